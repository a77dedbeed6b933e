"""A group of commands with one that need not be named: `netmend mend MODEL …` is `netmend mend find MODEL …`."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from netmend.cli.command_help import PlainGroup
from netmend.errors import UsageError

DEFAULT = "find"


class MendGroup(PlainGroup):
    """Anything but the name of a command or a wish for help is taken for the default command's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            args = [ctx.help_option_names[0]]
        if args[0] not in self.commands and args[0] not in ctx.help_option_names:
            self._refuse_misspelt(args[0])
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def _refuse_misspelt(self, word: str) -> None:
        """`aply` is hardly a model, unless there is one of that name."""
        meant = difflib.get_close_matches(word, self.commands, n=1, cutoff=0.7)
        if meant and not Path(word).exists():
            raise UsageError(
                f"there is neither a command nor a model called {word}; did you mean: netmend mend {meant[0]}?"
            )

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The default command's options too: whoever asks about `netmend mend` mostly means that one."""
        super().format_options(ctx, formatter)
        find = self.commands[DEFAULT]
        records = [record for one in find.get_params(ctx) if (record := one.get_help_record(ctx))]
        with formatter.section("Options of netmend mend MODEL"):
            formatter.write_dl([record for record in records if not record[0].startswith("-h")])
