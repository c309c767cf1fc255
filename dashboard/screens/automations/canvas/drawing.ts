import { type Edge, MarkerType, type Node } from '@xyflow/react';
import type { ResponseOf } from '../../../api/client.ts';
import { text } from '../../../text/text.ts';
import { describeStep } from '../graph/describe.ts';
import type { StepFault } from '../graph/faults.ts';
import { type CanvasPosition, type Graph, type InsertPoint, type Step, stepOf, waysOf } from '../graph/graph.ts';
import { NODE } from '../graph/layout.ts';
import type { Lit, Visited } from '../graph/path.ts';
import { type Flow, flowKey } from '../graph/shares.ts';

const t = text.automations;

export type StepCounts = ResponseOf<'getWorkflowStats'>['steps'][number];

/** Content of a node. Its values are plain, so that an unchanged node is not redrawn. */
export interface StepData extends Record<string, unknown> {
  step: Step;
  line: string;
  counts: StepCounts | undefined;
  faults: readonly StepFault[];
  visited: Visited | undefined;
  /** Whether a path is highlighted that does not include this step. */
  dimmed: boolean;
  ways: { branch: string | null; open: boolean }[];
  readOnly: boolean;
}

export interface StartData extends Record<string, unknown> {
  label: string;
  /** Whether the first step can be added here. */
  open: boolean;
}

export interface WayData extends Record<string, unknown> {
  place: InsertPoint;
  branch: string | null;
  flow: Flow | undefined;
  lit: boolean;
  dimmed: boolean;
  readOnly: boolean;
  addLabel: string;
}

export type StepNodeType = Node<StepData, 'step'>;
export type StartNodeType = Node<StartData, 'start'>;
export type CanvasNode = StepNodeType | StartNodeType;
export type WayEdgeType = Edge<WayData, 'way'>;

export const START = 'start';
export const START_SIZE = { width: NODE.width, height: 44 };
/** Returns the id of the handle at which an edge leaves a step. */
export const handleOf = (branch: string | null): string => branch ?? '';
export const branchOf = (handle: string | null | undefined): string | null => handle || null;

export interface Drawing {
  graph: Graph;
  positions: Map<string, CanvasPosition>;
  selected: string | undefined;
  startLabel: string;
  templates: Map<string, string>;
  stats: Map<string, StepCounts>;
  flows: Map<string, Flow>;
  faults: ReadonlyMap<string, readonly StepFault[]>;
  lit: Lit | undefined;
  readOnly: boolean;
}

/** Returns the nodes of a drawing. Unchanged nodes are the same objects as before, so they are not redrawn. */
export function nodesOf(drawing: Drawing, before: ReadonlyMap<string, CanvasNode>): CanvasNode[] {
  const nodes = drawing.graph.steps.map((step) => nodeOf(drawing, step));
  return [startOf(drawing), ...nodes].map((node) => reuseNode(before.get(node.id), node));
}

function nodeOf(p: Drawing, step: Step): StepNodeType {
  const { graph, lit } = p;
  const ways = leftToRight(waysOf(graph, step), p.positions);
  const plain = ways.some(({ branch, to }) => branch === null && to !== null);
  const visited = lit?.steps.get(step.id);
  return {
    id: step.id,
    type: 'step' as const,
    position: p.positions.get(step.id) ?? { x: 0, y: 0 },
    width: NODE.width,
    height: NODE.height,
    measured: { ...NODE },
    selected: p.selected === step.id,
    ariaLabel: t.stepOf(step.name, t.stepNames[step.type]),
    data: {
      step,
      line: describeStep(step, p.templates),
      counts: p.stats.get(step.id),
      faults: p.faults.get(step.id) ?? NONE,
      visited,
      dimmed: lit !== undefined && !visited,
      readOnly: p.readOnly,
      ways: ways.map(({ branch, to }) => ({ branch, open: to === null && !plain })),
    },
  };
}

/** Returns ways in the order of their targets, so that they do not cross; open ways come last. */
function leftToRight(
  ways: ReturnType<typeof waysOf>,
  positions: Map<string, CanvasPosition>,
): ReturnType<typeof waysOf> {
  const x = (to: string | null) => (to === null ? Number.POSITIVE_INFINITY : (positions.get(to)?.x ?? 0));
  return [...ways].sort((a, b) => (x(a.to) === x(b.to) ? 0 : x(a.to) - x(b.to)));
}

const NONE: readonly StepFault[] = [];

/** Returns the position of the start node: above the entry step, or alone if there is no step. */
function startOf({ graph, positions, startLabel, readOnly }: Drawing): StartNodeType {
  const entry = graph.entry === null ? undefined : positions.get(graph.entry);
  const all = [...positions.values()];
  const top = Math.min(0, ...all.map(({ y }) => y));
  const position = entry ? { x: entry.x, y: entry.y - START_SIZE.height - 64 } : { x: 0, y: top - 120 };
  return {
    id: START,
    type: 'start' as const,
    position,
    draggable: false,
    selectable: false,
    connectable: true,
    ...START_SIZE,
    measured: { ...START_SIZE },
    deletable: false,
    focusable: false,
    data: { label: startLabel, open: !entry && !readOnly },
  };
}

export function edgesOf(drawing: Drawing, before: ReadonlyMap<string, WayEdgeType>): WayEdgeType[] {
  const { graph, flows, lit, readOnly } = drawing;
  const nameOf = (id: string) => stepOf(graph, id)?.name ?? '';
  const ways = graph.transitions.map(({ from, to, branch }): WayEdgeType => {
    const key = flowKey(from, branch);
    const isLit = lit?.ways.has(key) ?? false;
    const data = {
      place: { after: from, branch },
      branch,
      flow: flows.get(key),
      lit: isLit,
      readOnly,
      dimmed: lit !== undefined && !isLit,
      addLabel: t.addBetween(nameOf(from), nameOf(to)),
    };
    return { ...edge(from, to, isLit), id: `${key} ${to}`, sourceHandle: handleOf(branch), data };
  });
  const first = graph.entry !== null && stepOf(graph, graph.entry) ? [entryEdge(drawing, graph.entry)] : [];
  return [...first, ...ways].map((way) => reuseNode(before.get(way.id), way));
}

function entryEdge({ lit, readOnly }: Drawing, entry: string): WayEdgeType {
  const isLit = lit?.steps.has(entry) ?? false;
  const data = {
    place: null,
    branch: null,
    flow: undefined,
    lit: isLit,
    dimmed: lit !== undefined && !isLit,
    readOnly,
  };
  return { ...edge(START, entry, isLit), id: 'entry', deletable: false, data: { ...data, addLabel: t.addFront } };
}

function edge(source: string, target: string, isLit: boolean) {
  const color = isLit ? 'var(--mantine-primary-color-filled)' : 'var(--way)';
  return { source, target, type: 'way' as const, markerEnd: { type: MarkerType.ArrowClosed, color } };
}

/**
 * Returns the old object if the new one shows the same, so that it is not redrawn. An unchanged step is the same
 * object in both.
 */
function reuseNode<Thing extends object>(old: Thing | undefined, fresh: Thing): Thing {
  return old && same(old, fresh, 3) ? old : fresh;
}

function same(one: unknown, other: unknown, depth: number): boolean {
  if (Object.is(one, other)) return true;
  if (depth === 0 || typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  const [a, b] = [Object.entries(one), other as Record<string, unknown>];
  return a.length === Object.keys(other).length && a.every(([key, value]) => same(value, b[key], depth - 1));
}
