"""Target networks that follow at once or never."""

from __future__ import annotations

from collections.abc import Iterator

from netmend.diagnose.detector import Detector
from netmend.diagnose.examples.agents import acted, an_agent, twins
from netmend.diagnose.measures.acting import agents, training_world
from netmend.diagnose.measures.ending import finished
from netmend.unit import convention, exact
from netmend.vocabulary import AgentFact, Symptom, Trace

WHAT = "weights while acting"


class TargetNeverMoves(Detector, code="D720"):
    """The target network never followed the network that is trained, or hardly did.

    The values that are learned towards stay those of a random network. Usual causes: an update interval larger than the run, a
    Polyak factor that is far too small, the copy forgotten.
    """

    least_looks = convention(10, "looks at both networks")
    least_changes = convention(8, "changes of the trained network meanwhile")
    moved_limit = exact(
        0.1, "1 − (1 − tau)ⁿ: the share of the trained weights that the target holds after n soft updates"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = agents(trace)
        for agent in found if finished(trace) else ():
            moved = self._moved(agent)
            if agent.target_looks >= self.least_looks and (
                agent.target_changes == 0 or moved < self.moved_limit
            ):
                text = (
                    "never changed"
                    if agent.target_changes == 0
                    else f"took over {moved:.1%} of the trained weights"
                )
                message = f"In {agent.updates} updates the target network {text}."
                detail = {"soft": agent.target_changes > 0}
                yield self.symptom(
                    message, agent, 0.0 if agent.target_changes == 0 else moved, self.moved_limit, detail
                )
        if found or training_world(trace) is None:
            return
        probes = {probe.component: probe.values for probe in trace.probes(WHAT)}
        for name, values in probes.items():
            trained = [
                other
                for other in values["twins"]
                if other in probes
                and probes[other]["changes"] >= self.least_changes
                and probes[other]["trained"]
            ]
            if values["trained"] or values["changes"] or values["looks"] < self.least_looks or not trained:
                continue
            message = f"`{name}` has the same structure as `{trained[0]}`, which is trained, but its weights never changed."
            detail = {"twin": trained[0], "soft": False, "finished": finished(trace)}
            yield self.symptom(message, name, 0.0, float(self.least_changes), detail)

    def _moved(self, agent: AgentFact) -> float:
        """The share of the trained weights that soft updates have brought over, by arithmetic."""
        tau, interval = agent.settings.get("tau"), agent.settings.get("target_update_interval") or 1
        if not isinstance(tau, float) or agent.kind == "DQN":
            return 1.0
        return float(1 - (1 - min(1.0, tau)) ** (agent.updates / interval))

    HEALTHY = {
        "follows": lambda: acted(an_agent("DQN", target_looks=50, target_changes=4)),
        "soft updates": lambda: acted(an_agent("SAC", {"tau": 0.005}, target_looks=50, target_changes=50)),
        "a hand-written pair": lambda: acted(*twins(changes=3)),
        "a frozen copy that is trained itself": lambda: acted(*twins(changes=0, trained=True)),
    }
    FAULTY = {
        "an interval beyond the run": lambda: acted(
            an_agent("DQN", {"target_update_interval": 10_000}, target_looks=50, target_changes=0)
        ),
        "a tiny Polyak factor": lambda: acted(
            an_agent("SAC", {"tau": 1e-5}, target_looks=50, target_changes=50)
        ),
        "a hand-written pair": lambda: acted(*twins(changes=0)),
    }


class TargetFollowsAtOnce(Detector, code="D721"):
    """The target network is the same as the trained network whenever one looks.

    It is there to stand still for a while; a target that moves with every update lets errors feed on themselves. Usual causes: a copy at
    every step, a Polyak factor of one.
    """

    least_looks = convention(10, "looks at both networks")
    share_limit = exact(
        0.9, "of the looks; a target that stands still between updates is apart at most of them"
    )

    def examine(self, trace: Trace) -> Iterator[Symptom]:
        found = agents(trace)
        for agent in found:
            share = agent.target_equal / max(1, agent.target_looks)
            if agent.target_looks >= self.least_looks and share >= self.share_limit:
                message = f"At {agent.target_equal} of {agent.target_looks} checks the target network was equal to the trained one."
                yield self.symptom(message, agent, share, self.share_limit)
        if found or training_world(trace) is None:
            return
        for probe in trace.probes(WHAT):
            values = probe.values
            share = values["equal"] / max(1, values["looks"])
            often = values["changes"] >= 0.5 * self.least_looks and share >= self.share_limit
            if not values["trained"] and values["twins"] and values["looks"] >= self.least_looks and often:
                message = f"At {values['equal']} of {values['looks']} checks `{probe.component}` was equal to `{values['twins'][0]}`, which is trained."
                detail = {"twin": values["twins"][0]}
                yield self.symptom(message, probe.component, share, self.share_limit, detail)

    HEALTHY = {
        "stands still between updates": lambda: acted(
            an_agent("DQN", target_looks=50, target_changes=10, target_equal=10)
        ),
        "a hand-written pair": lambda: acted(*twins(changes=30, equal=4)),
    }
    FAULTY = {
        "a Polyak factor of one": lambda: acted(
            an_agent("SAC", {"tau": 1.0}, target_looks=50, target_changes=50, target_equal=50)
        ),
        "a hand-written pair": lambda: acted(*twins(changes=40, equal=40)),
    }
