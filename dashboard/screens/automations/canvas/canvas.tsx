import { useComputedColorScheme } from '@mantine/core';
import {
  Background,
  type Connection,
  type EdgeChange,
  type NodeChange,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  type Viewport,
} from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { text } from '../../../text/text.ts';
import { type CanvasPosition, findStep, type InsertPoint, listTransitions } from '../graph/graph.ts';
import { NODE } from '../graph/layout.ts';
import { type CanvasActions, CanvasActionsContext } from './actions.ts';
import classes from './canvas.module.css';
import {
  type CanvasNode,
  createEdges,
  createNodes,
  type Drawing,
  getStartPosition,
  START,
  type TransitionEdgeType,
  toBranch,
} from './drawing.ts';
import { computeInitialView, MIN_ZOOM } from './fit.ts';
import { MoreSteps } from './more-steps.tsx';
import { StartNode, StepNode } from './step-node.tsx';
import { TransitionEdge } from './transition-edge.tsx';
import { Zoom } from './zoom.tsx';

const t = text.automations;
const NODE_TYPES = { step: StepNode, start: StartNode };
const EDGE_TYPES = { transition: TransitionEdge };
const PRO_OPTIONS = { hideAttribution: true };

export interface CanvasProps {
  drawing: Drawing;
  onSelect: (stepId: string | undefined) => void;
  onCount: CanvasActions['onCount'];
  countHref: CanvasActions['countHref'];
  onAdd: (insertPoint: InsertPoint) => void;
  onMove: (positions: ReadonlyMap<string, CanvasPosition>) => void;
  onConnect: (transition: { from: string; to: string; branch: string | null }) => void;
  onEntry: (stepId: string) => void;
  onRemove: (stepId: string) => void;
  onDisconnect: (insertPoint: { after: string; branch: string | null }) => void;
}

/**
 * The canvas of an automation. The canvas shows its props and reports edits. Its own state is the view (position and
 * zoom) and a drag in progress.
 */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow(props: CanvasProps) {
  const { drawing } = props;
  const scheme = useComputedColorScheme('light');
  const [dragged, setDragged] = useState<ReadonlyMap<string, CanvasPosition>>(NOT_DRAGGED);
  const { nodes, edges } = useNodesAndEdges(drawing, dragged);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  const actions = useMemo<CanvasActions>(
    () => ({
      onAdd: (insertPoint) => latest.current.onAdd(insertPoint),
      onCount: (stepId, count) => latest.current.onCount(stepId, count),
      countHref: (stepId, count) => latest.current.countHref(stepId, count),
    }),
    [],
  );
  const container = useRef<HTMLDivElement>(null);
  const { first, fit } = useInitialView(drawing, container);
  useScrollToSelected(drawing.selected, container);
  useKeptCenter(container);

  const onNodesChange = useCallback((changes: NodeChange<CanvasNode>[]) => {
    const moved = changes.flatMap((change) => (change.type === 'position' ? [change] : []));
    if (moved.length === 0) return;
    const positions = new Map(moved.flatMap(({ id, position }) => (position ? [[id, position] as const] : [])));
    if (moved.some(({ dragging }) => dragging)) setDragged((before) => new Map([...before, ...positions]));
    else {
      setDragged(NOT_DRAGGED);
      if (positions.size > 0) latest.current.onMove(positions);
    }
  }, []);
  const onConnect = useCallback(({ source, target, sourceHandle }: Connection) => {
    if (source === START) latest.current.onEntry(target);
    else latest.current.onConnect({ from: source, to: target, branch: toBranch(sourceHandle) });
  }, []);

  // The function must be stable: a new one would redraw all visible nodes whenever one node moves.
  const onNodeClick = useCallback(
    (_: unknown, { id, type }: CanvasNode) => latest.current.onSelect(type === 'step' ? id : undefined),
    [],
  );
  const onPaneClick = useCallback(() => latest.current.onSelect(undefined), []);

  return (
    <CanvasActionsContext.Provider value={actions}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: handles the keys of the focused node or edge inside */}
      <div ref={container} className={classes.canvas} onKeyDown={(event) => handleKey(event, latest.current)}>
        {first && (
          <ReactFlow<CanvasNode, TransitionEdgeType>
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            colorMode={scheme}
            onNodesChange={onNodesChange}
            onEdgesChange={IGNORE}
            onConnect={onConnect}
            onNodeClick={onNodeClick}
            onPaneClick={onPaneClick}
            nodesDraggable={!drawing.readOnly}
            nodesConnectable={!drawing.readOnly}
            elementsSelectable={false}
            nodesFocusable
            edgesFocusable={!drawing.readOnly}
            deleteKeyCode={null}
            onlyRenderVisibleElements={drawing.graph.steps.length > MANY}
            minZoom={0.25}
            maxZoom={1.5}
            defaultViewport={first}
            aria-label={t.canvasLabel}
            proOptions={PRO_OPTIONS}
          >
            <Background gap={20} size={1.5} color="var(--color-border-strong)" />
            <MoreSteps positions={drawing.positions} />
            <Zoom onFit={fit} />
          </ReactFlow>
        )}
      </div>
    </CanvasActionsContext.Provider>
  );
}

/** Returns the view with which the canvas opens, as soon as its size is known, and a function that restores it. */
function useInitialView(drawing: Drawing, container: RefObject<HTMLDivElement | null>) {
  const { setViewport } = useReactFlow();
  const [first, setFirst] = useState<Viewport>();
  const latest = useRef(drawing);
  useEffect(() => {
    latest.current = drawing;
  });
  const computeView = useCallback(() => {
    const { clientWidth: width, clientHeight: height } = container.current ?? { clientWidth: 0, clientHeight: 0 };
    return computeInitialView({ width, height }, getStartPosition(latest.current), latest.current.positions.values());
  }, [container]);
  useLayoutEffect(() => setFirst(computeView()), [computeView]);
  return { first, fit: () => void setViewport(computeView(), { duration: 150 }) };
}

const NOT_DRAGGED: ReadonlyMap<string, CanvasPosition> = new Map();
/** Above this number of steps, only visible nodes are drawn. */
const MANY = 60;
const IGNORE = (_: EdgeChange<TransitionEdgeType>[]) => {};

/** Returns the nodes and edges to draw. Unchanged ones are the same objects as before. */
function useNodesAndEdges(drawing: Drawing, dragged: ReadonlyMap<string, CanvasPosition>) {
  const before = useRef({ nodes: new Map<string, CanvasNode>(), edges: new Map<string, TransitionEdgeType>() });
  const still = useMemo(() => createNodes(drawing, before.current.nodes), [drawing]);
  const nodes = useMemo(() => {
    if (dragged.size === 0) return still;
    return still.map((node) => moveTo(node, dragged.get(node.id)));
  }, [still, dragged]);
  const edges = useMemo(() => createEdges(drawing, before.current.edges), [drawing]);
  useEffect(() => {
    before.current = { nodes: mapById(still), edges: mapById(edges) };
  }, [still, edges]);
  return { nodes, edges };
}

function moveTo(node: CanvasNode, position: CanvasPosition | undefined): CanvasNode {
  return position ? { ...node, position } : node;
}

function mapById<Thing extends { id: string }>(things: Thing[]): Map<string, Thing> {
  return new Map(things.map((thing) => [thing.id, thing]));
}

/** Scrolls a selected or added step into view, together with the buttons below it. */
function useScrollToSelected(selected: string | undefined, container: RefObject<HTMLDivElement | null>): void {
  const { getViewport, setCenter, getInternalNode } = useReactFlow();
  useEffect(() => {
    if (selected === undefined) return;
    const show = () => {
      const at = getInternalNode(selected)?.internals.positionAbsolute;
      const pane = container.current;
      if (!at || !pane) return;
      const { x, y, zoom } = getViewport();
      const [left, top] = [at.x * zoom + x, at.y * zoom + y];
      const [right, bottom] = [left + NODE.width * zoom, top + (NODE.height + BELOW) * zoom];
      if (left >= 0 && top >= 0 && right <= pane.clientWidth && bottom <= pane.clientHeight) return;
      void setCenter(at.x + NODE.width / 2, at.y + NODE.height / 2, {
        zoom: Math.max(zoom, MIN_ZOOM),
        duration: 150,
      });
    };
    return runAfterLayout(show);
  }, [selected, container, getViewport, setCenter, getInternalNode]);
}

/** Height in pixels of the buttons below a step. */
const BELOW = 56;

/** Runs `work` two frames later, because a panel may open at the same moment. Returns a function that cancels it. */
function runAfterLayout(work: () => void): () => void {
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(work);
  });
  return () => cancelAnimationFrame(frame);
}

/** Keeps the center of the view in place when the panel beside the canvas opens or closes. */
function useKeptCenter(container: RefObject<HTMLDivElement | null>): void {
  const { getViewport, setViewport } = useReactFlow();
  useEffect(() => {
    const pane = container.current;
    if (!pane) return;
    let width = pane.clientWidth;
    const watch = new ResizeObserver(() => {
      const { x, ...rest } = getViewport();
      const moved = (pane.clientWidth - width) / 2;
      width = pane.clientWidth;
      if (moved !== 0) void setViewport({ x: x + moved, ...rest });
    });
    watch.observe(pane);
    return () => watch.disconnect();
  }, [container, getViewport, setViewport]);
}

/**
 * Handles the keys of the focused step or edge. Enter opens a step, Escape closes its panel, A adds a step after it,
 * and Delete removes the step or the edge.
 */
function handleKey(event: KeyboardEvent, { drawing, onSelect, onAdd, onRemove, onDisconnect }: CanvasProps): void {
  const { target, key } = event;
  if (!(target instanceof Element) || event.metaKey || event.ctrlKey || event.altKey) return;
  if (target.classList.contains('react-flow__node')) {
    const step = findStep(drawing.graph, target.getAttribute('data-id'));
    if (!step) return;
    if (key === 'Enter' || key === ' ') onSelect(step.id);
    else if (key === 'Escape') onSelect(undefined);
    else if (drawing.readOnly) return;
    else if (key === 'a' || key === 'A') {
      const transitions = listTransitions(drawing.graph, step);
      const transition = transitions.find(({ to }) => to === null) ?? transitions[0];
      if (transition) onAdd({ after: step.id, branch: transition.branch });
    } else if (key === 'Delete' || key === 'Backspace') onRemove(step.id);
    else return;
    event.preventDefault();
  } else if (target.classList.contains('react-flow__edge') && (key === 'Delete' || key === 'Backspace')) {
    const edge = createEdges(drawing, new Map()).find(({ id }) => id === target.getAttribute('data-id'));
    if (edge?.data?.insertPoint && !drawing.readOnly) onDisconnect(edge.data.insertPoint);
  }
}
