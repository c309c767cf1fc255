import dagre from '@dagrejs/dagre';
import type { CanvasPosition, Graph } from './graph.ts';

/** Size of a node on the canvas, in pixels. */
export const NODE = { width: 264, height: 58 };
/** Pixels between nodes. The label of a branch needs more height. */
export const GAP = { nodes: 40, ranks: 48, label: 26 };

/** Returns the position of each step, top down: the position from the user, or else from the layout. */
export function positionsOf(graph: Graph): Map<string, CanvasPosition> {
  if (graph.steps.every(({ position }) => position !== null)) {
    return new Map(graph.steps.map(({ id, position }) => [id, position ?? { x: 0, y: 0 }]));
  }
  const computed = layout(graph);
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
export function layout(graph: Graph): Map<string, CanvasPosition> {
  const drawing = new dagre.graphlib.Graph();
  drawing.setGraph({ rankdir: 'TB', nodesep: GAP.nodes, ranksep: GAP.ranks, marginx: 0, marginy: 0 });
  drawing.setDefaultEdgeLabel(() => ({}));
  for (const { id } of graph.steps) drawing.setNode(id, { ...NODE });
  for (const { from, to, branch } of graph.transitions) {
    if (from === to || !drawing.hasNode(from) || !drawing.hasNode(to)) continue;
    drawing.setEdge(from, to, { width: 0, height: branch === null ? 0 : GAP.label });
  }
  dagre.layout(drawing);
  return new Map(
    graph.steps.map(({ id }) => {
      const { x, y } = drawing.node(id);
      return [id, { x: Math.round(x - NODE.width / 2), y: Math.round(y - NODE.height / 2) }];
    }),
  );
}

/** Places an inserted step at the position of the next step, and moves the next and all later steps down. */
export function moveLaterSteps(graph: Graph, id: string): Graph {
  const { to } = graph.transitions.find(({ from }) => from === id) ?? {};
  const at = graph.steps.find((step) => step.id === to)?.position;
  const step = graph.steps.find((one) => one.id === id);
  if (!at || !step || step.position !== null) return graph;
  const down = NODE.height + GAP.ranks + GAP.label;
  const after = reachedFrom(graph, id);
  const steps = graph.steps.map((one) => {
    if (one.id === id) return { ...one, position: at };
    const moves = one.position !== null && one.position.y >= at.y && after.has(one.id);
    return moves && one.position ? { ...one, position: { x: one.position.x, y: one.position.y + down } } : one;
  });
  return { ...graph, steps };
}

function reachedFrom({ transitions }: Graph, id: string): Set<string> {
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
  const positions = layout(graph);
  return { ...graph, steps: graph.steps.map((step) => ({ ...step, position: positions.get(step.id) ?? null })) };
}
