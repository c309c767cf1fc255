import dagre from '@dagrejs/dagre';
import { type CanvasPosition, findStep, type Graph, listTransitions, type Step } from './graph.ts';

/** Size of a node on the canvas, in pixels. */
export const NODE = { width: 264, height: 58 };
/** Pixels between nodes. The label of a branch needs more height. */
export const GAP = { nodes: 40, ranks: 48, label: 26 };
/** Height in pixels of a row of branch names, where the names of many branches are below each other. */
export const BRANCH_ROW = 24;
/** If at least this many branches of a step lead to the same step, their names are shown one below the other. */
export const CROWD = 3;
/** From this number of columns, a step's branches would be wider than a laptop's window at the smallest readable zoom. */
const MANY_COLUMNS = 6;

/** Returns the position of each step, top down: the position from the user, or else from the layout. */
export function placeSteps(graph: Graph): Map<string, CanvasPosition> {
  if (graph.steps.every(({ position }) => position !== null)) {
    return new Map(graph.steps.map(({ id, position }) => [id, position ?? { x: 0, y: 0 }]));
  }
  const computed = computeLayout(graph);
  const placed = graph.steps.filter(({ position }) => position !== null);
  if (placed.length === 0) return computed;
  return new Map(graph.steps.map((step) => [step.id, step.position ?? placeNewStep(graph, step.id, computed)]));
}

/**
 * Places a new step among steps that a user has placed: below the step that leads to it, to the right of other steps.
 */
function placeNewStep(graph: Graph, id: string, computed: Map<string, CanvasPosition>): CanvasPosition {
  const before = graph.transitions.find(({ to }) => to === id)?.from;
  const above = graph.steps.find((step) => step.id === before)?.position;
  const at = above
    ? { x: above.x, y: above.y + NODE.height + GAP.ranks + GAP.label }
    : (computed.get(id) ?? { x: 0, y: 0 });
  const occupied = graph.steps.flatMap(({ position }) => position ?? []);
  while (occupied.some(({ x, y }) => Math.abs(x - at.x) < NODE.width && Math.abs(y - at.y) < NODE.height)) {
    at.x += NODE.width + GAP.nodes;
  }
  return at;
}

/** Returns the layout of a graph, in layers. The same graph always has the same layout. */
export function computeLayout(graph: Graph): Map<string, CanvasPosition> {
  const drawing = new dagre.graphlib.Graph();
  drawing.setGraph({ rankdir: 'TB', nodesep: GAP.nodes, ranksep: GAP.ranks, marginx: 0, marginy: 0 });
  drawing.setDefaultEdgeLabel(() => ({}));
  for (const { id } of graph.steps) drawing.setNode(id, { ...NODE });
  const ranks = new Map(graph.steps.flatMap((step) => listLowerRanks(graph, step)));
  for (const { from, to, branch } of graph.transitions) {
    if (from === to || !drawing.hasNode(from) || !drawing.hasNode(to)) continue;
    const height = branch === null ? 0 : GAP.label + BRANCH_ROW * countRowsBelow(graph, from);
    // A higher weight keeps the steps of a branch together, so that only the line to the next join becomes longer.
    const weight = ranks.size > 0 && !isJoin(graph, to) ? 2 : 1;
    drawing.setEdge(from, to, { width: 0, height, minlen: ranks.get(`${from} ${to}`) ?? 1, weight });
  }
  dagre.layout(drawing);
  const drawnAt = new Map(graph.steps.map(({ id }) => [id, drawing.node(id).x]));
  const side = isReversed(graph, drawnAt) ? -1 : 1;
  const middles = [...drawnAt.values()].map((x) => side * x);
  const left = Math.min(...middles);
  return new Map(
    graph.steps.map(({ id }, n) => {
      const x = Math.round((middles[n] ?? 0) - left);
      return [id, { x, y: Math.round(drawing.node(id).y - NODE.height / 2) }];
    }),
  );
}

/**
 * For a step with many branches, returns how many ranks below the step every second branch starts. These branches are
 * drawn below the steps of the branches beside them, so that the drawing is half as wide. Empty if a branch itself has
 * branches.
 */
function listLowerRanks(graph: Graph, step: Step): [transition: string, ranks: number][] {
  const targets = [...new Set(listTransitions(graph, step).flatMap(({ to }) => to ?? []))];
  if (targets.length < MANY_COLUMNS) return [];
  const chains = targets.map((id) => countChainSteps(graph, id));
  if (!chains.every((length) => length !== undefined)) return [];
  const upper = chains.filter((_, n) => n % 2 === 0);
  const ranks = 1 + Math.max(...upper);
  return targets.flatMap((to, n) => (n % 2 === 1 ? [[`${step.id} ${to}`, ranks] as const] : []));
}

/**
 * Returns the number of steps from this step to the end of its branch. The branch ends before a step at which branches
 * join. Undefined if a step has several next steps.
 */
function countChainSteps(graph: Graph, first: string): number | undefined {
  const chain = new Set<string>();
  for (let id: string | undefined = first; id !== undefined; ) {
    if (chain.has(id) || isJoin(graph, id)) return chain.size;
    chain.add(id);
    const after = [...new Set(graph.transitions.filter(({ from }) => from === id).map(({ to }) => to))];
    if (after.length > 1) return undefined;
    id = after[0];
  }
  return chain.size;
}

/** Tells whether several transitions lead to a step. */
function isJoin({ transitions }: Graph, id: string): boolean {
  return transitions.filter(({ to }) => to === id).length > 1;
}

/** Returns the number of rows that the names of crowded branches below a step need. */
function countRowsBelow(graph: Graph, id: string): number {
  const step = findStep(graph, id);
  const transitions = step ? listTransitions(graph, step) : [];
  return transitions.filter((transition) => isCrowded(transitions, transition)).length;
}

/** Tells whether many branches of a step have the same target as this transition. No target counts as a target. */
export function isCrowded(transitions: ReturnType<typeof listTransitions>, { to }: { to: string | null }): boolean {
  return transitions.filter((transition) => transition.to === to).length >= CROWD;
}

/** Tells whether most branches are in the reverse of their order, from left to right. The layout is then mirrored. */
function isReversed(graph: Graph, drawnAt: ReadonlyMap<string, number>): boolean {
  const turns = graph.steps.flatMap((step) => {
    const targets = listTransitions(graph, step).flatMap(({ to }) => drawnAt.get(to ?? '') ?? []);
    return targets.slice(1).map((x, n) => Math.sign(x - (targets[n] ?? x)));
  });
  return turns.reduce((sum, turn) => sum + turn, 0) < 0;
}

/** Places an inserted step at the position of the next step, and moves the next and all later steps down. */
export function moveLaterSteps(graph: Graph, id: string): Graph {
  const { to } = graph.transitions.find(({ from }) => from === id) ?? {};
  const at = graph.steps.find((step) => step.id === to)?.position;
  const step = graph.steps.find((one) => one.id === id);
  if (!at || !step || step.position !== null) return graph;
  const down = NODE.height + GAP.ranks + GAP.label;
  const after = findReachable(graph, id);
  const steps = graph.steps.map((one) => {
    if (one.id === id) return { ...one, position: at };
    const moves = one.position !== null && one.position.y >= at.y && after.has(one.id);
    return moves && one.position ? { ...one, position: { x: one.position.x, y: one.position.y + down } } : one;
  });
  return { ...graph, steps };
}

function findReachable({ transitions }: Graph, id: string): Set<string> {
  const reached = new Set<string>();
  const queue = [id];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const { from, to } of transitions) {
      if (from !== at || reached.has(to) || to === id) continue;
      reached.add(to);
      queue.push(to);
    }
  }
  return reached;
}

/** Returns the graph with every step at its position in the layout. */
export function withLayout(graph: Graph): Graph {
  const positions = computeLayout(graph);
  return { ...graph, steps: graph.steps.map((step) => ({ ...step, position: positions.get(step.id) ?? null })) };
}
