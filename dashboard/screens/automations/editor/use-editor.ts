import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ApiFailure, callApi } from '../../../api/client.ts';
import { queryFor } from '../../../api/queries.ts';
import { useSession } from '../../../app/session.ts';
import { notifyFailure } from '../../../parts/notifications.tsx';
import { createDraftKey, storeDraft } from '../../../parts/record-edit/stored-drafts.ts';
import { type GraphDraft, readGraphDraft } from '../graph/draft.ts';
import { type GraphFaults, groupFaultsByStep } from '../graph/faults.ts';
import { type Graph, isSameGraph, toGraph, toSavedGraph, type WorkflowDetail, withIds } from '../graph/graph.ts';
import { type History, mapHistory, recordChange, redo, startHistory, undo } from '../graph/history.ts';
import { findStepDifferences, mergeGraphs, type StepDifference } from '../graph/merge.ts';
import { CHECK } from './use-check.ts';

interface State {
  /** The saved version, as far as this page knows. */
  base: { version: string; graph: Graph };
  history: History<Graph>;
  /** Whether the editor started with a draft from this browser. */
  fromDraft: boolean;
  /** The API's ids of steps that this page has added, by their temporary ids. */
  ids: Readonly<Record<string, string>>;
  /** Counts changes from outside the forms. When it changes, open forms read their values again. */
  epoch: number;
}

/** The state of an automation in the editor. */
export interface Editor {
  graph: Graph;
  version: string;
  epoch: number;
  isDirty: boolean;
  isSaving: boolean;
  fromDraft: boolean;
  /** Returns the id that the API gave a step, if the id is a temporary one. */
  idOf: (stepId: string) => string;
  /** Whether this browser stores the unsaved changes. */
  isDraftStored: boolean;
  /** Whether another user has saved a newer version, and this user has unsaved changes. */
  conflict: boolean;
  canUndo: boolean;
  canRedo: boolean;
  /** @param about consecutive changes with the same value are undone together */
  change: (to: (graph: Graph) => Graph, about?: string) => void;
  undo: () => void;
  redo: () => void;
  /**
   * Saves, unless a save is running. Returns the API's errors by step if the API refused the graph. Other failures are
   * shown as a notification.
   */
  save: () => Promise<GraphFaults | undefined>;
  /** Replaces all unsaved changes with the saved version. */
  discard: () => void;
  /** The steps that another user has changed; empty without a conflict. */
  differences: StepDifference[];
  /** Merges the changes of both users. For a step that both changed, the user's choice decides. */
  settle: (choices: Partial<Record<string, 'mine' | 'theirs'>>) => void;
  /** Keeps this user's graph, based on the version that is now saved. */
  keepMine: () => void;
}

export function useEditor(workflow: WorkflowDetail): Editor {
  const client = useQueryClient();
  const { id } = workflow;
  const key = createDraftKey(useSession(), `automation:${id}`);
  const [state, setState] = useState<State>(() => createInitialState(workflow, key));
  const [isSaving, setSaving] = useState(false);
  // A ref changes immediately, and a state only with the next render. A shortcut that is held down calls `save` again
  // before that render.
  const isSaveRunning = useRef(false);
  const [isDraftStored, setDraftStored] = useState(true);
  const { base, history } = state;
  const graph = history.present;
  const isDirty = useMemo(() => !isSameGraph(graph, base.graph), [graph, base.graph]);
  const isBehind = workflow.version !== base.version;

  useEffect(() => {
    if (isBehind && !isDirty && !isSaving) setState((before) => createState(workflow, before));
  }, [isBehind, isDirty, isSaving, workflow]);

  useEffect(() => {
    const draft: GraphDraft | undefined = isDirty ? { version: base.version, graph, base: base.graph } : undefined;
    setDraftStored(storeDraft(key, draft));
  }, [graph, isDirty, base, key]);

  const onHistory = useCallback((next: (history: History<Graph>) => History<Graph>) => {
    setState((before) => ({ ...before, history: next(before.history) }));
  }, []);

  const save = async (): Promise<GraphFaults | undefined> => {
    if (isSaveRunning.current) return undefined;
    isSaveRunning.current = true;
    setSaving(true);
    try {
      await client.cancelQueries({ queryKey: [CHECK, id] });
      const { workflow: saved, ids } = await callApi('saveWorkflowGraph', {
        params: { id },
        body: toSavedGraph(graph, base.version),
      });
      setState((before) => createSavedState(before, { sent: graph, saved, ids }));
      client.setQueryData(queryFor('getWorkflow', { params: { id } }).queryKey, saved);
      await client.invalidateQueries({ queryKey: ['getWorkflowStats'] });
      return undefined;
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'VALIDATION_ERROR')
        return groupFaultsByStep(error.fields, graph);
      if (error instanceof ApiFailure && error.status === 409) {
        await client.invalidateQueries({ queryKey: ['getWorkflow'] });
      }
      notifyFailure(error);
      return undefined;
    } finally {
      isSaveRunning.current = false;
      setSaving(false);
    }
  };

  return {
    graph,
    version: base.version,
    epoch: state.epoch,
    idOf: (stepId) => state.ids[stepId] ?? stepId,
    isDirty,
    isSaving,
    isDraftStored,
    save,
    fromDraft: state.fromDraft && isDirty,
    conflict: isBehind && isDirty && !isSaving,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    change: useCallback((to, about) => onHistory((h) => recordChange(h, to(h.present), about ?? null)), [onHistory]),
    undo: useCallback(() => setState((before) => moveInHistory(before, undo)), []),
    redo: useCallback(() => setState((before) => moveInHistory(before, redo)), []),
    discard: () => setState((before) => createState(workflow, before)),
    differences:
      isBehind && isDirty && !isSaving
        ? findStepDifferences({ base: base.graph, mine: graph, theirs: toGraph(workflow) })
        : [],
    settle: (choices) =>
      setState((before) => {
        const theirs = toBase(workflow);
        const graphs = { base: before.base.graph, mine: before.history.present, theirs: theirs.graph };
        const next = recordChange(before.history, mergeGraphs(graphs, choices));
        return { ...before, base: theirs, history: next, fromDraft: false, epoch: before.epoch + 1 };
      }),
    keepMine: () => setState((before) => ({ ...before, base: toBase(workflow), fromDraft: false })),
  };
}

function toBase(workflow: WorkflowDetail): State['base'] {
  return { version: workflow.version, graph: toGraph(workflow) };
}

function createState(workflow: WorkflowDetail, before?: State): State {
  const base = toBase(workflow);
  const { epoch = 0, ids = {} } = before ?? {};
  return { base, history: startHistory(base.graph), fromDraft: false, ids, epoch: epoch + 1 };
}

function moveInHistory(state: State, to: (history: History<Graph>) => History<Graph>): State {
  return { ...state, history: to(state.history), epoch: state.epoch + 1 };
}

/**
 * Starts with the draft of this browser, if any. If the draft is based on another version, this leads to a conflict.
 */
function createInitialState(workflow: WorkflowDetail, key: string): State {
  const draft = readGraphDraft(key);
  const saved = createState(workflow);
  if (!draft || isSameGraph(draft.graph, saved.base.graph)) return saved;
  const base = { graph: draft.base ?? saved.base.graph, version: draft.version };
  return { ...saved, base, history: recordChange(startHistory(saved.base.graph), draft.graph), fromDraft: true };
}

/** Returns the state after a save. Changes made during the save remain; the saved part becomes the API's version. */
function createSavedState(
  before: State,
  { sent, saved, ids }: { sent: Graph; saved: WorkflowDetail; ids: Record<string, string> },
): State {
  const { history } = before;
  const base = toBase(saved);
  const withSavedIds = mapHistory(history, (graph) => withIds(graph, ids));
  const next = history.present === sent ? { ...withSavedIds, present: base.graph } : withSavedIds;
  return { ...before, base, history: next, fromDraft: false, ids: { ...before.ids, ...ids } };
}
