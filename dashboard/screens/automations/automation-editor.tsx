import { Paper, SegmentedControl } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { getRows } from '../../api/queries.ts';
import { useMissingPermissionText } from '../../parts/action-button.tsx';
import { EditorFrame, EditorPage } from '../../parts/editor-frame.tsx';
import { Placeholder } from '../../parts/loading.tsx';
import { notifyWithUndo } from '../../parts/notifications.tsx';
import { GrayLines, Repeat } from '../../parts/pending-lines.tsx';
import { useIsPhone } from '../../parts/use-is-phone.ts';
import { text } from '../../text/text.ts';
import { AddStep } from './add-step.tsx';
import classes from './automation-editor.module.css';
import type { CanvasProps } from './canvas/canvas.tsx';
import type { Drawing } from './canvas/drawing.ts';
import { Notices } from './editor/notices.tsx';
import { EditorState, listSections, listTools, MainAction, useAutomationMenu } from './editor/toolbar.tsx';
import { useCheck } from './editor/use-check.ts';
import { useCounts } from './editor/use-counts.ts';
import { type Editor, useEditor } from './editor/use-editor.ts';
import { useTemplates } from './forms/messages.tsx';
import type { GraphFaults } from './graph/faults.ts';
import {
  addStep,
  changeStep,
  connect,
  findStep,
  type Graph,
  type InsertPoint,
  removeStep,
  restoreStep,
  type WorkflowDetail,
} from './graph/graph.ts';
import { moveLaterSteps, placeSteps } from './graph/layout.ts';
import { findPath } from './graph/path.ts';
import { computeFlows } from './graph/shares.ts';
import { AutomationSettings } from './panel/automation-settings.tsx';
import { Panel } from './panel/panel.tsx';
import { useRun } from './panel/path.tsx';
import type { PreviewResponse } from './panel/test-panel.tsx';
import type { AutomationSearch } from './routes.ts';
import { getStartEvent } from './start-event.ts';
import { createCountSearch } from './step-counts.tsx';
import { StepList } from './step-list.tsx';
import { newStep } from './step-types.tsx';

const t = text.automations;
const GRAY_STEPS = 3;
const route = getRouteApi('/shell/automations/$automationId');
/** Loaded when a canvas is first shown. Phones never load it. */
const Canvas = lazy(async () => ({ default: (await import('./canvas/canvas.tsx')).Canvas }));

export function AutomationEditor({ workflow }: { workflow: WorkflowDetail }) {
  const { id } = workflow;
  const readOnly = useMissingPermissionText('workflows:edit') !== undefined;
  const editor = useEditor(workflow);
  const { graph } = editor;
  const nav = useEditorSearch(id, editor);
  const { search, open, select } = nav;
  const [insertPoint, setInsertPoint] = useState<{ at: InsertPoint }>();
  const [preview, setPreview] = useState<PreviewResponse>();
  const { check, faults, save } = useGraphFaults(workflow, editor);
  const isNarrow = useIsPhone();
  const asList = isNarrow || search.view === 'list';
  const isSettings = search.panel === 'automation';
  const drawing = useDrawing({ workflow, graph, search, faults, preview, readOnly });

  const remove = (stepId: string) => {
    const step = findStep(graph, stepId);
    if (!step || readOnly) return;
    editor.change((before) => removeStep(before, stepId));
    if (search.step === stepId) select(undefined);
    const { waiting = 0, running = 0 } = drawing.stats.get(stepId) ?? {};
    const ends = waiting + running > 0 ? ` ${t.removeEnds(waiting + running)}` : '';
    notifyWithUndo(`${t.removed(step.name)}${ends}`, () => editor.change((now) => restoreStep(now, graph, stepId)));
  };
  const add = (type: Parameters<typeof newStep>[0]) => {
    const step = newStep(type);
    editor.change((before) => moveLaterSteps(addStep(before, step, insertPoint?.at ?? null), step.id));
    setInsertPoint(undefined);
    select(step.id);
  };
  useEditorHotkeys(editor, readOnly ? undefined : () => void save());
  const onAdd = (at: InsertPoint) => setInsertPoint({ at });
  const view = asList ? 'list' : 'canvas';
  const menu = useAutomationMenu({ workflow, editor, view, onView: isNarrow ? undefined : nav.openView });
  const steps = { drawing, onSelect: select, onAdd, onCount: nav.openCount, countHref: nav.countHref };

  return (
    <EditorFrame
      back={{ to: '/automations', label: text.nav.automations }}
      title={workflow.name}
      state={<EditorState workflow={workflow} editor={editor} />}
      nav={listSections(workflow, isSettings, (next) =>
        nav.openSection(next === 'settings' ? 'automation' : undefined),
      )}
      tools={listTools(editor, readOnly, () => nav.openSection('try'))}
      primary={
        <MainAction
          workflow={workflow}
          editor={editor}
          faults={faults}
          isChecking={check.isChecking}
          onSave={() => void save()}
        />
      }
      menu={menu.items}
      notices={<Notices editor={editor} faults={faults} graph={graph} refused={check.refused} onStep={select} />}
    >
      {isSettings ? (
        <EditorPage width={640}>
          <AutomationSettings key={workflow.id} workflow={workflow} />
        </EditorPage>
      ) : (
        <>
          <div className={classes.desk}>
            {asList ? (
              <ListOfSteps {...steps} />
            ) : (
              <Suspense
                fallback={
                  <Placeholder>
                    <GraySteps />
                  </Placeholder>
                }
              >
                <Canvas {...steps} onRemove={remove} {...createGraphHandlers(editor)} />
              </Suspense>
            )}
            <RangeControl days={search.days} onChange={nav.openDays} />
          </div>
          <Panel
            workflow={workflow}
            editor={editor}
            search={search}
            open={open}
            faults={faults}
            stats={drawing.stats}
            countHref={nav.countHref}
            isNarrow={isNarrow}
            onAdd={onAdd}
            onRemove={remove}
            onSave={() => void save()}
            preview={preview}
            onPreview={setPreview}
          />
        </>
      )}
      {menu.dialog}
      {insertPoint && (
        <AddStep insertPoint={insertPoint.at} graph={graph} onAdd={add} onClose={() => setInsertPoint(undefined)} />
      )}
    </EditorFrame>
  );
}

/** The placeholder of the work area: the range of the counts, and the first steps. */
export function GrayAutomation() {
  return (
    <div className={classes.desk}>
      <GraySteps />
      <div className={`${classes.range} ${classes.grayRange}`} />
    </div>
  );
}

/** The placeholder of the canvas, and of the list of steps on a phone. */
function GraySteps() {
  return (
    <div className={classes.graySteps}>
      <Repeat count={GRAY_STEPS}>
        <Paper withBorder>
          <GrayLines count={2} gap={0} />
        </Paper>
      </Repeat>
    </div>
  );
}

/** Reads the selected step, panel and view from the URL, and returns functions that open other ones. */
function useEditorSearch(automationId: string, editor: Editor) {
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const router = useRouter();
  const open = (next: AutomationSearch) => void navigate({ search: next, replace: true });
  // A save replaces the temporary id of a new step. With `idOf`, the panel of the step stays open.
  const search = address.step === undefined ? address : { ...address, step: editor.idOf(address.step) };
  const isMoved = search.step !== address.step;
  useEffect(() => {
    if (isMoved) void navigate({ search, replace: true });
  }, [isMoved, navigate, search]);

  const { view, days, run } = search;
  return {
    search,
    open,
    select: (step: string | undefined) => {
      const { step: _, visits: __, branch: ___, panel, ...rest } = search;
      open(step === undefined ? { ...rest, ...(panel === 'try' && { panel }) } : { ...rest, step, panel: 'settings' });
    },
    openSection: (panel?: AutomationSearch['panel']) =>
      open({ ...(view && { view }), ...(days && { days }), ...(run && { run }), ...(panel && { panel }) }),
    openView: (next: 'list' | 'canvas') => {
      const { view: _, ...rest } = search;
      open({ ...rest, ...(next === 'list' && { view: next }) });
    },
    openDays: (next: 7 | 30 | undefined) => {
      const { days: _, ...rest } = search;
      open({ ...rest, ...(next && { days: next }) });
    },
    openCount: ((step, of) => open(createCountSearch(search, step, of))) satisfies CanvasProps['onCount'],
    countHref: ((step, of) => {
      const params = { automationId };
      const to = router.buildLocation({
        to: '/automations/$automationId',
        params,
        search: createCountSearch(search, step, of),
      });
      return router.history.createHref(to.href);
    }) satisfies CanvasProps['countHref'],
  };
}

/** Returns the errors of the graph, from its check or from a refused save. */
function useGraphFaults({ id, updatedAt }: WorkflowDetail, editor: Editor) {
  const { graph, version } = editor;
  // The API's errors stay until the graph changes. The check of the changed graph then finds the same errors, if they
  // remain.
  const [refused, setRefused] = useState<{ graph: unknown; faults: GraphFaults }>();
  const check = useCheck({ id, graph, version, updatedAt }, editor);
  const save = async () => {
    const saveFaults = await editor.save();
    setRefused(saveFaults && { graph, faults: saveFaults });
  };
  return { check, faults: refused?.graph === graph ? refused.faults : check, save };
}

/** Collects everything that the canvas and the list show. */
function useDrawing(p: {
  workflow: WorkflowDetail;
  graph: Graph;
  search: AutomationSearch;
  faults: GraphFaults;
  preview: PreviewResponse | undefined;
  readOnly: boolean;
}): Drawing {
  const { workflow, graph, search, faults, preview, readOnly } = p;
  const counts = useCounts(workflow.id, search.days);
  const templates = useTemplates();
  const run = useRun(workflow.id, search.run);
  const startEvent = getStartEvent(workflow);
  const startLabel = startEvent ? t.startOf(startEvent) : t.startedManually;
  return useMemo((): Drawing => {
    const visits = preview
      ? preview.steps
      : run.data?.steps.map((visit) => ({
          ...visit,
          branch: readText(visit.output, 'branch'),
          reason: readText(visit.output, 'reason'),
        }));
    return {
      graph,
      positions: placeSteps(graph),
      selected: search.step,
      startLabel,
      readOnly,
      stats: new Map(counts.map((step) => [step.stepId, step])),
      flows: computeFlows(graph, counts),
      faults: faults.steps,
      templates: new Map((templates.data ? getRows(templates.data) : []).map((one) => [one.id, one.name])),
      highlighted: visits && findPath(graph, visits),
    };
  }, [graph, search.step, startLabel, readOnly, counts, faults.steps, templates.data, preview, run.data]);
}

function useEditorHotkeys(editor: Editor, save: (() => void) | undefined): void {
  useHotkeys(
    [
      ['mod+z', editor.undo],
      ['mod+shift+z', editor.redo],
      ['mod+y', editor.redo],
    ],
    ['INPUT', 'TEXTAREA', 'SELECT'],
  );
  useHotkeys([['mod+s', () => editor.isDirty && save?.()]], []);
}

/** Returns the handlers for changes that the user draws on the canvas. */
function createGraphHandlers({ change }: Editor) {
  return {
    onMove: (moved) =>
      change((before) =>
        [...moved].reduce(
          (graph, [stepId, position]) => changeStep(graph, stepId, { position: roundPosition(position) }),
          before,
        ),
      ),
    onConnect: (transition) => change((before) => connect(before, transition)),
    onEntry: (entry) => change((before) => ({ ...before, entry })),
    onDisconnect: ({ after, branch }) => change((before) => connect(before, { from: after, branch, to: null })),
  } satisfies Partial<CanvasProps>;
}

function ListOfSteps({
  drawing,
  ...actions
}: Pick<CanvasProps, 'drawing' | 'onSelect' | 'onAdd' | 'onCount' | 'countHref'>) {
  return (
    <div className={classes.list}>
      <StepList {...drawing} {...actions} />
    </div>
  );
}

/** Chooses the days that the counts of the steps cover. */
function RangeControl({ days, onChange }: { days: 7 | 30 | undefined; onChange: (days: 7 | 30 | undefined) => void }) {
  return (
    <SegmentedControl
      className={classes.range}
      aria-label={t.countsOf}
      size="xs"
      value={String(days ?? 'all')}
      onChange={(next) => onChange(next === 'all' ? undefined : next === '7' ? 7 : 30)}
      data={RANGES.map((value) => ({ value, label: t.ranges[value] }))}
    />
  );
}

const RANGES = ['7', '30', 'all'] as const;
const roundPosition = ({ x, y }: { x: number; y: number }) => ({ x: Math.round(x), y: Math.round(y) });

function readText(output: Record<string, unknown> | null, key: string): string | null {
  const value = output?.[key];
  return typeof value === 'string' ? value : null;
}
