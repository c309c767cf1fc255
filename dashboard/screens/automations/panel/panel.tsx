import { ActionIcon, Drawer, Group, Paper, ScrollArea, Tabs, Title } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../../../text/text.ts';
import type { StepCounts } from '../canvas/drawing.ts';
import type { Editor } from '../editor/use-editor.ts';
import type { GraphFaults } from '../graph/faults.ts';
import { type InsertPoint, type Step, stepOf, type WorkflowDetail } from '../graph/graph.ts';
import type { AutomationSearch, VisitStatus } from '../routes.ts';
import { AutomationSettings } from './automation-settings.tsx';
import { People } from './people.tsx';
import { StepSettings } from './step-settings.tsx';
import { type PreviewResponse, TryOut } from './try-out.tsx';
import { Visits } from './visits.tsx';

const t = text.automations;

export interface PanelProps {
  workflow: WorkflowDetail;
  editor: Editor;
  search: AutomationSearch;
  open: (search: AutomationSearch) => void;
  faults: GraphFaults;
  stats: Map<string, StepCounts>;
  isNarrow: boolean;
  onAdd: (place: InsertPoint) => void;
  onRemove: (stepId: string) => void;
  onSave: () => void;
  preview: PreviewResponse | undefined;
  onPreview: (answer: PreviewResponse | undefined) => void;
}

/** The panel beside the drawing, above it on a phone: a step, the automation, or a test. */
export function Panel(p: PanelProps) {
  const { step: stepId, panel, visits, branch, ...rest } = p.search;
  const step = stepOf(p.editor.graph, stepId);
  const close = () => p.open(rest);
  const shown = contentOf(p, step);
  if (!shown) return null;
  if (p.isNarrow) {
    return (
      <Drawer
        opened
        onClose={close}
        position="bottom"
        size="90%"
        title={shown.title}
        closeButtonProps={{ 'aria-label': t.close }}
      >
        {shown.content}
      </Drawer>
    );
  }
  return (
    <Paper withBorder w={372} component="aside" aria-label={shown.title} style={{ flex: 'none' }}>
      <Group justify="space-between" p="sm" pb={0} wrap="nowrap">
        <Title order={2} size="h5" lineClamp={1}>
          {shown.title}
        </Title>
        <ActionIcon variant="subtle" color="gray" aria-label={t.close} onClick={close}>
          <IconX size={18} />
        </ActionIcon>
      </Group>
      <ScrollArea.Autosize mah="max(420px, calc(100dvh - 296px))" p="sm" type="auto" offsetScrollbars>
        {shown.content}
      </ScrollArea.Autosize>
    </Paper>
  );
}

function contentOf(p: PanelProps, step: Step | undefined): { title: string; content: ReactNode } | undefined {
  const { panel, run, view } = p.search;
  if (panel === 'automation') {
    return { title: t.automation, content: <AutomationSettings key={p.workflow.id} workflow={p.workflow} /> };
  }
  if (panel === 'try') {
    const onRun = (id: string | undefined) => {
      p.onPreview(undefined);
      p.open({ panel, ...(view && { view }), ...(id !== undefined && { run: id }) });
    };
    const tryOut = (
      <TryOut
        workflow={p.workflow}
        isDirty={p.editor.isDirty}
        onSave={p.onSave}
        preview={p.preview}
        onPreview={p.onPreview}
        runId={run}
        onRun={onRun}
        onStep={(id) => p.open({ ...p.search, step: id })}
      />
    );
    return { title: t.tryOut, content: tryOut };
  }
  if (!step) return undefined;
  return {
    title: step.name || t.stepNames[step.type],
    content: <OfStep key={step.id} {...p} step={step} />,
  };
}

function OfStep({ step, ...p }: PanelProps & { step: Step }) {
  const counts = p.stats.get(step.id);
  const here = counts ? counts.waiting + counts.running : 0;
  const { visits, branch, ...search } = p.search;
  const tab = search.panel === 'people' || search.panel === 'visits' ? search.panel : 'settings';
  return (
    <Tabs
      value={tab}
      onChange={(next) => p.open({ ...search, panel: next === 'people' || next === 'visits' ? next : 'settings' })}
      keepMounted={false}
    >
      <Tabs.List mb="sm">
        <Tabs.Tab value="settings">{t.settings}</Tabs.Tab>
        <Tabs.Tab value="people">{here > 0 ? `${t.here} (${here})` : t.here}</Tabs.Tab>
        <Tabs.Tab value="visits">{t.gone}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="settings">
        <StepSettings
          step={step}
          eventName={p.workflow.eventName ?? ''}
          editor={p.editor}
          faults={p.faults.steps.get(step.id) ?? []}
          here={here}
          onAdd={p.onAdd}
          onRemove={p.onRemove}
        />
      </Tabs.Panel>
      <Tabs.Panel value="people">
        <People workflowId={p.workflow.id} step={step} live />
      </Tabs.Panel>
      <Tabs.Panel value="visits">
        <Visits
          workflowId={p.workflow.id}
          step={step}
          status={visits ?? firstOf(counts)}
          branch={branch}
          counts={counts}
          onStatus={(status) => p.open({ ...search, panel: 'visits', visits: status })}
        />
      </Tabs.Panel>
    </Tabs>
  );
}

/** Returns the list that opens first: failures, else the first with contacts. */
function firstOf(counts: StepCounts | undefined): VisitStatus {
  if (!counts || counts.failed > 0) return counts ? 'FAILED' : 'COMPLETED';
  return counts.completed === 0 && counts.skipped > 0 ? 'SKIPPED' : 'COMPLETED';
}
