import { SegmentedControl, Text } from '@mantine/core';
import { useHotkeys, useMediaQuery } from '@mantine/hooks';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { rowsIn } from '../../api/queries.ts';
import { useMissingPermission } from '../../parts/action-button.tsx';
import { EditorFrame, EditorPage } from '../../parts/editor-frame.tsx';
import { Loading } from '../../parts/loading.tsx';
import { notifyWithUndo } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { AddStep } from './add-step.tsx';
import classes from './automation-editor.module.css';
import type { CanvasActions } from './canvas/actions.ts';
import type { Drawing } from './canvas/drawing.ts';
import { Notices } from './editor/notices.tsx';
import { EditorState, Sections, Toolbar } from './editor/toolbar.tsx';
import { useCheck } from './editor/use-check.ts';
import { useCounts } from './editor/use-counts.ts';
import { useEditor } from './editor/use-editor.ts';
import { useTemplates } from './forms/messages.tsx';
import type { GraphFaults } from './graph/faults.ts';
import {
  addStep,
  changeStep,
  connect,
  type InsertPoint,
  removeStep,
  restoreStep,
  stepOf,
  type WorkflowDetail,
} from './graph/graph.ts';
import { moveLaterSteps, positionsOf } from './graph/layout.ts';
import { highlightedPath } from './graph/path.ts';
import { flowsOf } from './graph/shares.ts';
import { AutomationSettings } from './panel/automation-settings.tsx';
import { Panel } from './panel/panel.tsx';
import { useRun } from './panel/path.tsx';
import type { PreviewResponse } from './panel/test-panel.tsx';
import type { AutomationSearch } from './routes.ts';
import { searchOf } from './step-counts.tsx';
import { StepList } from './step-list.tsx';
import { newStep } from './step-types.tsx';

const t = text.automations;
const route = getRouteApi('/shell/automations/$automationId');
/** Loaded when a canvas is first shown. Phones never load it. */
const Canvas = lazy(async () => ({ default: (await import('./canvas/canvas.tsx')).Canvas }));

export function AutomationEditor({ workflow }: { workflow: WorkflowDetail }) {
  const { id } = workflow;
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const router = useRouter();
  const open = (next: AutomationSearch) => void navigate({ search: next, replace: true });
  const readOnly = useMissingPermission('workflows:edit') !== undefined;
  const editor = useEditor(workflow);
  const { graph, change } = editor;
  // A save gives a new step another id, and its panel stays open.
  const search = address.step === undefined ? address : { ...address, step: editor.idOf(address.step) };
  const isMoved = search.step !== address.step;
  useEffect(() => {
    if (isMoved) void navigate({ search, replace: true });
  }, [isMoved, navigate, search]);
  const [place, setPlace] = useState<{ at: InsertPoint }>();
  const [preview, setPreview] = useState<PreviewResponse>();
  // The API's errors stay until the graph changes. The check of the changed graph then finds the same errors, if they
  // remain.
  const [refused, setRefused] = useState<{ graph: unknown; faults: GraphFaults }>();
  const check = useCheck({ id, graph, version: editor.version, updatedAt: workflow.updatedAt }, editor);
  const faults = refused?.graph === graph ? refused.faults : check;
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  const asList = isNarrow || search.view === 'list';

  const isSettings = search.panel === 'automation';

  const counts = useCounts(id, search.days);
  const templates = useTemplates();
  const run = useRun(id, search.run);
  const startLabel = workflow.eventName ? t.startOf(workflow.eventName) : t.startByHand;
  const drawing = useMemo((): Drawing => {
    const visits = preview
      ? preview.steps
      : run.data?.steps.map((visit) => ({
          ...visit,
          branch: textIn(visit.output, 'branch'),
          reason: textIn(visit.output, 'reason'),
        }));
    return {
      graph,
      positions: positionsOf(graph),
      selected: search.step,
      startLabel,
      readOnly,
      stats: new Map(counts.map((step) => [step.stepId, step])),
      flows: flowsOf(graph, counts),
      faults: faults.steps,
      templates: new Map((templates.data ? rowsIn(templates.data) : []).map((one) => [one.id, one.name])),
      highlighted: visits && highlightedPath(graph, visits),
    };
  }, [graph, search.step, startLabel, readOnly, counts, faults.steps, templates.data, preview, run.data]);

  const save = async () => {
    const told = await editor.save();
    setRefused(told && { graph, faults: told });
  };
  const select = (step: string | undefined) => {
    const { step: _, visits: __, branch: ___, panel, ...rest } = search;
    open(step === undefined ? { ...rest, ...(panel === 'try' && { panel }) } : { ...rest, step, panel: 'settings' });
  };
  const count: CanvasActions['onCount'] = (step, of) => open(searchOf(search, step, of));
  const countHref: CanvasActions['countHref'] = (step, of) => {
    const params = { automationId: id };
    const to = router.buildLocation({ to: '/automations/$automationId', params, search: searchOf(search, step, of) });
    return router.history.createHref(to.href);
  };
  const remove = (stepId: string) => {
    const step = stepOf(graph, stepId);
    if (!step || readOnly) return;
    change((before) => removeStep(before, stepId));
    if (search.step === stepId) select(undefined);
    const { waiting = 0, running = 0 } = drawing.stats.get(stepId) ?? {};
    const ends = waiting + running > 0 ? ` ${t.removeEnds(waiting + running)}` : '';
    notifyWithUndo(`${t.removed(step.name)}${ends}`, () => change((now) => restoreStep(now, graph, stepId)));
  };
  const add = (type: Parameters<typeof newStep>[0]) => {
    const step = newStep(type);
    change((before) => moveLaterSteps(addStep(before, step, place?.at ?? null), step.id));
    setPlace(undefined);
    select(step.id);
  };
  useHotkeys(
    [
      ['mod+z', editor.undo],
      ['mod+shift+z', editor.redo],
      ['mod+y', editor.redo],
    ],
    ['INPUT', 'TEXTAREA', 'SELECT'],
  );
  useHotkeys([['mod+s', () => void (editor.isDirty && !readOnly && save())]], []);
  const onAdd = (at: InsertPoint) => setPlace({ at });
  const { view: _, ...canvasSearch } = search;
  const section = (panel?: AutomationSearch['panel']) => {
    const { view, days, run } = search;
    open({ ...(view && { view }), ...(days && { days }), ...(run && { run }), ...(panel && { panel }) });
  };
  const canvas = (
    <Suspense fallback={<Loading height={460} />}>
      <Canvas
        drawing={drawing}
        onSelect={select}
        onCount={count}
        countHref={countHref}
        onAdd={onAdd}
        onRemove={remove}
        onMove={(moved) =>
          change((before) =>
            [...moved].reduce(
              (drawn, [stepId, position]) => changeStep(drawn, stepId, { position: rounded(position) }),
              before,
            ),
          )
        }
        onConnect={(way) => change((before) => connect(before, way))}
        onEntry={(entry) => change((before) => ({ ...before, entry }))}
        onDisconnect={({ after, branch }) => change((before) => connect(before, { from: after, branch, to: null }))}
      />
    </Suspense>
  );
  const list = (
    <div className={classes.list}>
      {isNarrow && (
        <Text size="xs" c="dimmed" mb="xs">
          {t.phone}
        </Text>
      )}
      <StepList {...drawing} onSelect={select} onAdd={onAdd} onCount={count} countHref={countHref} />
    </div>
  );

  return (
    <EditorFrame
      back={{ to: '/automations', label: text.nav.automations }}
      title={workflow.name}
      state={<EditorState workflow={workflow} editor={editor} />}
      nav={
        <Sections
          workflow={workflow}
          isSettings={isSettings}
          onSection={(next) => section(next === 'settings' ? 'automation' : undefined)}
        />
      }
      actions={
        <Toolbar
          workflow={workflow}
          editor={editor}
          faults={faults}
          isChecking={check.isChecking}
          view={asList ? 'list' : 'canvas'}
          onView={isNarrow ? undefined : (view) => open({ ...canvasSearch, ...(view === 'list' && { view }) })}
          onSave={() => void save()}
          onTest={() => section('try')}
        />
      }
      notices={<Notices editor={editor} faults={faults} graph={graph} refused={check.refused} onStep={select} />}
    >
      {isSettings ? (
        <EditorPage width={640}>
          <AutomationSettings key={workflow.id} workflow={workflow} />
        </EditorPage>
      ) : (
        <>
          <div className={classes.desk}>
            {asList ? list : canvas}
            <SegmentedControl
              className={classes.range}
              aria-label={t.countsOf}
              size="xs"
              value={String(search.days ?? 'all')}
              onChange={(next) => {
                const { days: _days, ...rest } = search;
                open({ ...rest, ...(next !== 'all' && { days: next === '7' ? 7 : 30 }) });
              }}
              data={RANGES.map((value) => ({ value, label: t.ranges[value] }))}
            />
          </div>
          <Panel
            workflow={workflow}
            editor={editor}
            search={search}
            open={open}
            faults={faults}
            stats={drawing.stats}
            countHref={countHref}
            isNarrow={isNarrow}
            onAdd={onAdd}
            onRemove={remove}
            onSave={() => void save()}
            preview={preview}
            onPreview={setPreview}
          />
        </>
      )}
      {place && <AddStep place={place.at} graph={graph} onAdd={add} onClose={() => setPlace(undefined)} />}
    </EditorFrame>
  );
}

const RANGES = ['7', '30', 'all'] as const;
const rounded = ({ x, y }: { x: number; y: number }) => ({ x: Math.round(x), y: Math.round(y) });

function textIn(output: Record<string, unknown> | null, key: string): string | null {
  const value = output?.[key];
  return typeof value === 'string' ? value : null;
}
