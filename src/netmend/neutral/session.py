"""A whole neutrality analysis: train the program as it is (and the known fix), search, find the alternatives."""

from __future__ import annotations

from collections.abc import Callable

from netmend.neutral.alternatives import alternatives, best_goal, fix_goal, like_goal
from netmend.neutral.explore import Explorer, Neighbours
from netmend.neutral.graph import Graph
from netmend.neutral.judge import Judge
from netmend.neutral.neighbours import neighbours as all_neighbours
from netmend.neutral.neutrality import START, Goal, Neutrality, Node
from netmend.neutral.options import NeutralOptions
from netmend.neutral.versions import fix_version
from netmend.repair.problem import Problem
from netmend.trials.opening import Stages, runner_of, seeds_of
from netmend.trials.runner import Executor
from netmend.trials.trial import Outcome, Target

INTERRUPTED = "interrupted; run the same command to continue"

# What is being done, how far it is, how many configurations are known and kept, what just ended.
Told = Callable[[str, Problem, Explorer, Outcome | None], None]


def neutral(
    target: Target,
    options: NeutralOptions,
    told: Told | None = None,
    executor: Executor | None = None,
    neighbours: Neighbours = all_neighbours,
    make_problem: Callable[..., Problem] = Problem,
) -> Neutrality:
    """Which changes, alone or together, make the program as good as the goal. Nothing of the user's is changed.

    An interruption (Ctrl-C) ends the search, not the analysis: what is known until then is returned.
    """
    options = options.checked()
    fix = None if options.fix is None else fix_version(target, options.fix)
    stages = Stages(lambda doing, outcome: told(doing, problem, explorer, outcome) if told else None)
    runner = runner_of(target, options, stages.ended, executor)
    problem = make_problem(runner, options.budget, options.measure)
    graph = Graph(problem, seeds_of(options.seeds))
    explorer = Explorer(graph, Judge(graph), neighbours, options.width, options.depth)
    goal = None if options.like is None else like_goal(options.like)
    try:
        stages.begin("training the original program")
        explorer.start()
        if fix is not None:
            stages.begin("training the known fix")
            goal = fix_goal(explorer.values_of(fix))
        explorer.judge.goal = goal
        stages.begin("searching")
        if goal is not None and goal.value is None:
            explorer.stopped = "the known fix does not train to its end, or does not tell the measure"
        else:
            explorer.run()
    except KeyboardInterrupt:
        explorer.stopped = INTERRUPTED
    finally:
        runner.close()
    return _result(target, options, explorer, goal)


def _result(target: Target, options: NeutralOptions, explorer: Explorer, goal: Goal | None) -> Neutrality:
    problem = explorer.problem
    nodes = tuple(explorer.graph.nodes) or (Node(0, None, 0, problem.original, None, status=START),)
    if options.fix is not None and goal is None:
        reached = fix_goal(())  # interrupted before the fix was trained
    else:
        reached = goal or best_goal(problem.objective, nodes)
    return Neutrality(
        script=target.script,
        directory=target.directory,
        arguments=target.arguments,
        objective=problem.objective,
        nodes=nodes,
        goal=reached,
        alternatives=alternatives(problem.objective, nodes, reached),
        seeds=explorer.graph.seeds,
        trainings=problem.spent,
        seconds=problem.runner.used.seconds,
        budget=str(options.budget),
        stopped=explorer.stopped,
        untried=explorer.untried,
        problems=tuple(explorer.problems),
    )
