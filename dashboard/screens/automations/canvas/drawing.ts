import type { Edge, Node } from '@xyflow/react';
import type { ResponseOf } from '../../../api/client.ts';
import { text } from '../../../text/text.ts';
import { getLabel } from '../../../text/words.ts';
import type { StepFault } from '../graph/faults.ts';
import {
  type CanvasPosition,
  findStep,
  type Graph,
  type InsertPoint,
  listTransitions,
  type Step,
} from '../graph/graph.ts';
import { GAP, isCrowded, NODE } from '../graph/layout.ts';
import type { HighlightedPath, Visited } from '../graph/path.ts';
import { type Flow, flowKey } from '../graph/shares.ts';
import { summarizeStep } from '../step-types.tsx';
import { findLane } from './edge-path.ts';

const t = text.automations;

export type StepCounts = ResponseOf<'getWorkflowStats'>['steps'][number];

/** Content of a node. All values are plain data, so that an unchanged node is not redrawn. */
export interface StepData extends Record<string, unknown> {
  step: Step;
  line: string;
  counts: StepCounts | undefined;
  faults: readonly StepFault[];
  visited: Visited | undefined;
  /** Whether a path is highlighted that does not include this step. */
  dimmed: boolean;
  /** `open`: the branch leads to no step, and no unnamed transition applies to it. A button adds a step there. */
  transitions: (BranchRow & { branch: string | null; open: boolean })[];
  readOnly: boolean;
}

/**
 * The row in which the name of a branch is drawn. Branches are crowded if many of them lead to the same step or to
 * none. Each crowded branch has its name in a row of its own. The names of other branches are in the row below these.
 */
interface BranchRow {
  crowded: boolean;
  row: number;
}

export interface StartData extends Record<string, unknown> {
  label: string;
  /**
   * The contacts that started. Undefined if contacts also return to the first step, because its counts include these
   * returns.
   */
  started: number | undefined;
  /** Whether the first step can be added here. */
  open: boolean;
}

export interface TransitionData extends BranchRow, Record<string, unknown> {
  insertPoint: InsertPoint;
  branch: string | null;
  /** The x coordinate of the vertical line of the transition. Undefined if its target is not below. */
  lane: number | undefined;
  /** Distance of the transition's handle from the middle of the step at its start. */
  offset: number;
  /** The width in pixels that the name of the branch can take. */
  labelWidth: number;
  flow: Flow | undefined;
  highlighted: boolean;
  dimmed: boolean;
  readOnly: boolean;
  addLabel: string;
}

export type StepNodeType = Node<StepData, 'step'>;
export type StartNodeType = Node<StartData, 'start'>;
export type CanvasNode = StepNodeType | StartNodeType;
export type TransitionEdgeType = Edge<TransitionData, 'transition'>;

/** The id of the trigger's node. */
export const START = 'start';
/** Returns the id of the handle at which an edge leaves a step. */
export const toHandleId = (branch: string | null): string => branch ?? '';
export const toBranch = (handle: string | null | undefined): string | null => handle || null;

export interface Drawing {
  graph: Graph;
  positions: Map<string, CanvasPosition>;
  selected: string | undefined;
  startLabel: string;
  templates: Map<string, string>;
  stats: Map<string, StepCounts>;
  flows: Map<string, Flow>;
  faults: ReadonlyMap<string, readonly StepFault[]>;
  highlighted: HighlightedPath | undefined;
  readOnly: boolean;
}

/** Returns the nodes of a drawing. Unchanged nodes are the same objects as before, so they are not redrawn. */
export function createNodes(drawing: Drawing, before: ReadonlyMap<string, CanvasNode>): CanvasNode[] {
  const nodes = drawing.graph.steps.map((step) => createStepNode(drawing, step));
  return [createStartNode(drawing), ...nodes].map((node) => reuseIfSame(before.get(node.id), node));
}

function createStepNode(p: Drawing, step: Step): StepNodeType {
  const { graph, highlighted } = p;
  const transitions = sortLeftToRight(listTransitions(graph, step), p.positions);
  const plain = transitions.some(({ branch, to }) => branch === null && to !== null);
  const visited = highlighted?.steps.get(step.id);
  return {
    id: step.id,
    type: 'step' as const,
    position: p.positions.get(step.id) ?? { x: 0, y: 0 },
    width: NODE.width,
    height: NODE.height,
    measured: { ...NODE },
    selected: p.selected === step.id,
    ariaLabel: t.stepOf(step.name, getLabel('step', step.type)),
    data: {
      step,
      line: summarizeStep(step, p.templates) || getTypeUnlessName(step),
      counts: p.stats.get(step.id),
      faults: p.faults.get(step.id) ?? NONE,
      visited,
      dimmed: highlighted !== undefined && !visited,
      readOnly: p.readOnly,
      transitions: transitions.map(({ branch, to }, at) => ({
        branch,
        open: to === null && !plain,
        ...getBranchRow(transitions, at),
      })),
    },
  };
}

function getTypeUnlessName({ type, name }: Step): string {
  const typeName = getLabel('step', type);
  return typeName === name ? '' : typeName;
}

/** Returns the row of a branch's name. The branch at the right is in the first row, so that no name covers another. */
function getBranchRow(transitions: ReturnType<typeof listTransitions>, at: number): BranchRow {
  const transition = transitions[at];
  const crowded = transition !== undefined && isCrowded(transitions, transition);
  const above = crowded ? transitions.slice(at + 1) : transitions;
  return { crowded, row: above.filter((other) => isCrowded(transitions, other)).length };
}

/**
 * Returns transitions in the order of their targets, so that their lines do not cross. Branches without a target come
 * last.
 */
function sortLeftToRight(
  transitions: ReturnType<typeof listTransitions>,
  positions: Map<string, CanvasPosition>,
): ReturnType<typeof listTransitions> {
  const x = (to: string | null) => (to === null ? Number.POSITIVE_INFINITY : (positions.get(to)?.x ?? 0));
  return [...transitions].sort((a, b) => (x(a.to) === x(b.to) ? 0 : x(a.to) - x(b.to)));
}

const NONE: readonly StepFault[] = [];

/** Returns the position of the trigger: above the entry step, or above all steps if there is no entry step. */
export function getStartPosition({ graph, positions }: Pick<Drawing, 'graph' | 'positions'>): CanvasPosition {
  const above = (y: number) => y - NODE.height - GAP.ranks;
  const entry = graph.entry === null ? undefined : positions.get(graph.entry);
  if (entry) return { x: entry.x, y: above(entry.y) };
  return { x: 0, y: above(Math.min(0, ...[...positions.values()].map(({ y }) => y))) };
}

function createStartNode(drawing: Drawing): StartNodeType {
  const { graph, startLabel, readOnly } = drawing;
  const hasEntry = graph.entry !== null && findStep(graph, graph.entry) !== undefined;
  return {
    id: START,
    type: 'start' as const,
    position: getStartPosition(drawing),
    draggable: false,
    selectable: false,
    connectable: true,
    ...NODE,
    measured: { ...NODE },
    deletable: false,
    focusable: false,
    data: { label: startLabel, started: countStarted(drawing), open: !hasEntry && !readOnly },
  };
}

function countStarted({ graph, stats }: Drawing): number | undefined {
  const counts = graph.entry === null ? undefined : stats.get(graph.entry);
  if (!counts || graph.transitions.some(({ to }) => to === graph.entry)) return undefined;
  const { completed, skipped, failed, running, waiting } = counts;
  return completed + skipped + failed + running + waiting;
}

export function createEdges(drawing: Drawing, before: ReadonlyMap<string, TransitionEdgeType>): TransitionEdgeType[] {
  const { graph, flows, highlighted, readOnly } = drawing;
  const nameOf = (id: string) => findStep(graph, id)?.name ?? '';
  const offsets = new Map(graph.steps.flatMap((step) => listHandleOffsets(drawing, step)));
  const rows = new Map(graph.steps.flatMap((step) => listBranchRows(drawing, step)));
  const lanes = new Map(
    graph.transitions.map(({ from, to, branch }) => {
      const key = flowKey(from, branch);
      const hasTwin = graph.transitions.some(
        (transition) => transition.from === from && transition.to === to && transition.branch !== branch,
      );
      return [
        key,
        findLaneBetween(drawing, from, to, branch === null || hasTwin ? offsets.get(key) : undefined),
      ] as const;
    }),
  );
  const edges = graph.transitions.map(({ from, to, branch }): TransitionEdgeType => {
    const key = flowKey(from, branch);
    const isHighlighted = highlighted?.transitions.has(key) ?? false;
    const siblings = graph.transitions.filter((other) => other.from === from && other.branch !== branch);
    const data = {
      insertPoint: { after: from, branch },
      branch,
      lane: lanes.get(key),
      offset: offsets.get(key) ?? 0,
      ...(rows.get(key) ?? FIRST_ROW),
      labelWidth: computeLabelWidth(
        lanes.get(key),
        siblings.map((other) => lanes.get(flowKey(from, other.branch))),
      ),
      flow: flows.get(key),
      highlighted: isHighlighted,
      readOnly,
      dimmed: highlighted !== undefined && !isHighlighted,
      addLabel: t.addBetween(nameOf(from), nameOf(to)),
    };
    const ariaLabel = t.transitionBetween(nameOf(from), branch, nameOf(to));
    return { ...createEdge(from, to), id: `${key} ${to}`, sourceHandle: toHandleId(branch), ariaLabel, data };
  });
  const first = graph.entry !== null && findStep(graph, graph.entry) ? [createEntryEdge(drawing, graph.entry)] : [];
  return [...first, ...edges].map((one) => reuseIfSame(before.get(one.id), one));
}

/** Largest and smallest width in pixels of a branch's name, and pixels between the names of two branches. */
const LABEL_PX = 240;
const SHORT_LABEL_PX = 40;
const LABEL_GAP = 8;

/** Returns the width that the name of a branch can take without covering the name of the nearest branch beside it. */
function computeLabelWidth(lane: number | undefined, others: (number | undefined)[]): number {
  if (lane === undefined) return LABEL_PX;
  const distances = others.flatMap((other) => (other === undefined || other === lane ? [] : Math.abs(other - lane)));
  return Math.max(SHORT_LABEL_PX, Math.min(LABEL_PX, ...distances.map((distance) => distance - LABEL_GAP)));
}

const FIRST_ROW: BranchRow = { crowded: false, row: 0 };

function listBranchRows({ graph, positions }: Drawing, step: Step): [key: string, row: BranchRow][] {
  const transitions = sortLeftToRight(listTransitions(graph, step), positions);
  return transitions.map(({ branch }, at) => [flowKey(step.id, branch), getBranchRow(transitions, at)]);
}

/** Returns the distance of each transition's handle from the middle of its step. */
function listHandleOffsets({ graph, positions }: Drawing, step: Step): [key: string, offset: number][] {
  const transitions = sortLeftToRight(listTransitions(graph, step), positions);
  return transitions.map(({ branch }, at) => [
    flowKey(step.id, branch),
    ((at + 1) / (transitions.length + 1) - 0.5) * NODE.width,
  ]);
}

function findLaneBetween({ positions }: Drawing, fromId: string, toId: string, source?: number): number | undefined {
  const [from, to] = [positions.get(fromId), positions.get(toId)];
  return from && to && findLane(from, to, positions.values(), source);
}

function createEntryEdge(drawing: Drawing, entry: string): TransitionEdgeType {
  const { highlighted, readOnly, positions } = drawing;
  const isHighlighted = highlighted?.steps.has(entry) ?? false;
  const to = positions.get(entry);
  const data = {
    insertPoint: null,
    branch: null,
    lane: to && findLane(getStartPosition(drawing), to, []),
    offset: 0,
    ...FIRST_ROW,
    labelWidth: LABEL_PX,
    flow: undefined,
    highlighted: isHighlighted,
    dimmed: highlighted !== undefined && !isHighlighted,
    readOnly,
  };
  return {
    ...createEdge(START, entry),
    id: 'entry',
    deletable: false,
    focusable: false,
    data: { ...data, addLabel: t.addFront },
  };
}

const createEdge = (source: string, target: string) => ({ source, target, type: 'transition' as const });

/**
 * Returns the old node or edge if the new one looks the same, so that React Flow does not redraw it. Properties are
 * compared three levels deep, and deeper values by identity; an unchanged step is the same object in both.
 */
function reuseIfSame<Thing extends object>(old: Thing | undefined, fresh: Thing): Thing {
  return old && isSameToDepth(old, fresh, 3) ? old : fresh;
}

function isSameToDepth(one: unknown, other: unknown, depth: number): boolean {
  if (Object.is(one, other)) return true;
  if (depth === 0 || typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  const [a, b] = [Object.entries(one), other as Record<string, unknown>];
  return a.length === Object.keys(other).length && a.every(([key, value]) => isSameToDepth(value, b[key], depth - 1));
}
