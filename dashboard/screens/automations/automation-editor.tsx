import { Box, Group, Text } from '@mantine/core';
import { useHotkeys, useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { listIn, queryFor } from '../../api/queries.ts';
import { useWhyNot } from '../../parts/action-button.tsx';
import { Loading } from '../../parts/loading.tsx';
import { tellUndoable } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { AddStep, newStep } from './add-step.tsx';
import type { CanvasActions } from './canvas/actions.ts';
import type { Drawing } from './canvas/drawing.ts';
import { Notices } from './editor/notices.tsx';
import { Toolbar } from './editor/toolbar.tsx';
import { useCheck } from './editor/use-check.ts';
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
import { makeRoom, positionsOf } from './graph/layout.ts';
import { litPath } from './graph/path.ts';
import { flowsOf } from './graph/shares.ts';
import { Panel } from './panel/panel.tsx';
import { useRun } from './panel/path.tsx';
import type { PreviewResponse } from './panel/try-out.tsx';
import type { AutomationSearch } from './routes.ts';
import { searchOf } from './step-counts.tsx';
import { StepList } from './step-list.tsx';

const t = text.automations;
const route = getRouteApi('/shell/automations/$automationId');
/** Loaded when a canvas is first shown. Phones never load it. */
const Canvas = lazy(async () => ({ default: (await import('./canvas/canvas.tsx')).Canvas }));
const EVERY_MS = 1_000;

export function AutomationEditor({ workflow }: { workflow: WorkflowDetail }) {
  const { id } = workflow;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const router = useRouter();
  const open = (next: AutomationSearch) => void navigate({ search: next, replace: true });
  const readOnly = useWhyNot('workflows:edit') !== undefined;
  const editor = useEditor(workflow);
  const { graph, change } = editor;
  const [place, setPlace] = useState<{ at: InsertPoint }>();
  const [preview, setPreview] = useState<PreviewResponse>();
  // The API's errors stay until the graph changes. The check of the changed graph then finds the same errors, if they
  // remain.
  const [refused, setRefused] = useState<{ graph: unknown; faults: GraphFaults }>();
  const check = useCheck({ id, graph, version: editor.version, updatedAt: workflow.updatedAt }, editor);
  const faults = refused?.graph === graph ? refused.faults : check;
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  const asList = isNarrow || search.view === 'list';

  const stats = useQuery({
    ...queryFor('getWorkflowStats', { params: { id } }),
    refetchInterval: EVERY_MS,
    structuralSharing: true,
  });
  const templates = useTemplates();
  const run = useRun(id, search.run);
  const startLabel = workflow.eventName ? t.startOf(workflow.eventName) : t.startByHand;
  const drawing = useMemo((): Drawing => {
    const steps = stats.data?.steps ?? [];
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
      stats: new Map(steps.map((step) => [step.stepId, step])),
      flows: flowsOf(graph, steps),
      faults: faults.steps,
      templates: new Map((templates.data ? listIn(templates.data) : []).map((one) => [one.id, one.name])),
      lit: visits && litPath(graph, visits),
    };
  }, [graph, search.step, startLabel, readOnly, stats.data, faults.steps, templates.data, preview, run.data]);

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
    tellUndoable(t.removed(step.name), () => change((now) => restoreStep(now, graph, stepId)));
  };
  const add = (type: Parameters<typeof newStep>[0]) => {
    const step = newStep(type);
    change((before) => makeRoom(addStep(before, step, place?.at ?? null), step.id));
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
  const show = (view: 'canvas' | 'list') => {
    const { view: _, ...rest } = search;
    open({ ...rest, ...(view === 'list' && { view }) });
  };

  return (
    <>
      <Toolbar
        workflow={workflow}
        editor={editor}
        faults={faults}
        isChecking={check.isChecking}
        view={asList ? 'list' : 'canvas'}
        onView={isNarrow ? undefined : show}
        onSave={() => void save()}
        onPanel={(panel) =>
          open({ ...(search.view && { view: search.view }), ...(search.run && { run: search.run }), panel })
        }
      />
      <Notices editor={editor} faults={faults} graph={graph} refused={check.refused} onStep={select} />
      {isNarrow && (
        <Text size="xs" c="dimmed" mb="xs">
          {t.phone}
        </Text>
      )}
      <Group align="stretch" wrap="nowrap" gap="md">
        <Box style={{ flex: 1, minWidth: 0 }}>
          {asList ? (
            <StepList {...drawing} onSelect={select} onAdd={onAdd} onCount={count} countHref={countHref} />
          ) : (
            <Box h="max(460px, calc(100dvh - 252px))">
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
                  onDisconnect={({ after, branch }) =>
                    change((before) => connect(before, { from: after, branch, to: null }))
                  }
                />
              </Suspense>
            </Box>
          )}
        </Box>
        <Panel
          workflow={workflow}
          editor={editor}
          search={search}
          open={open}
          faults={faults}
          stats={drawing.stats}
          isNarrow={isNarrow}
          onAdd={onAdd}
          onRemove={remove}
          onSave={() => void save()}
          preview={preview}
          onPreview={setPreview}
        />
      </Group>
      {place && <AddStep place={place.at} graph={graph} onAdd={add} onClose={() => setPlace(undefined)} />}
    </>
  );
}

const rounded = ({ x, y }: { x: number; y: number }) => ({ x: Math.round(x), y: Math.round(y) });

function textIn(output: Record<string, unknown> | null, key: string): string | null {
  const value = output?.[key];
  return typeof value === 'string' ? value : null;
}
