import { ActionIcon, Drawer, Group, Tabs, Title } from '@mantine/core';
import { IconTrash, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { formatCount, formatShare } from '../../../parts/count-link.tsx';
import { EditorPanel } from '../../../parts/editor-frame.tsx';
import { MoreItem, MoreMenu } from '../../../parts/more-menu.tsx';
import { text } from '../../../text/text.ts';
import { getLabel } from '../../../text/words.ts';
import type { CanvasActions } from '../canvas/actions.ts';
import type { StepCounts } from '../canvas/drawing.ts';
import type { Editor } from '../editor/use-editor.ts';
import type { GraphFaults } from '../graph/faults.ts';
import { findStep, type InsertPoint, type Step, type WorkflowDetail } from '../graph/graph.ts';
import type { AutomationSearch, VisitStatus } from '../routes.ts';
import { getStartEvent } from '../start-event.ts';
import { CountLink, createCountSearch, type StepCountKind } from '../step-counts.tsx';
import { StepIcon } from '../step-icon.tsx';
import { ContactsAtStep } from './contacts-at-step.tsx';
import classes from './panel.module.css';
import { StepSettings } from './step-settings.tsx';
import { type PreviewResponse, TestPanel } from './test-panel.tsx';
import { Visits } from './visits.tsx';

const t = text.automations;

export interface PanelProps {
  workflow: WorkflowDetail;
  editor: Editor;
  search: AutomationSearch;
  open: (search: AutomationSearch) => void;
  faults: GraphFaults;
  stats: Map<string, StepCounts>;
  countHref: CanvasActions['countHref'];
  isNarrow: boolean;
  onAdd: (insertPoint: InsertPoint) => void;
  onRemove: (stepId: string) => void;
  onSave: () => void;
  preview: PreviewResponse | undefined;
  onPreview: (preview: PreviewResponse | undefined) => void;
}

/** The panel beside the canvas: a step, or a test. On a phone, the panel is a drawer over the list of steps. */
export function Panel(p: PanelProps) {
  const { step: stepId, panel, visits, branch, ...rest } = p.search;
  const step = findStep(p.editor.graph, stepId);
  const close = () => p.open(rest);
  const panelContent = getPanelContent(p, step);
  if (!panelContent) return null;
  if (p.isNarrow) {
    return (
      <Drawer
        opened
        onClose={close}
        position="bottom"
        size="90%"
        title={
          <Group gap="xs" wrap="nowrap">
            {panelContent.icon}
            <span className={classes.title}>{panelContent.title}</span>
            {panelContent.menu}
          </Group>
        }
        classNames={{ title: classes.drawerTitle }}
        closeButtonProps={{ 'aria-label': t.close, size: 40, iconSize: 18 }}
      >
        {panelContent.content}
      </Drawer>
    );
  }
  return (
    <EditorPanel label={panelContent.title}>
      <Group gap="xs" wrap="nowrap" mb="md">
        {panelContent.icon}
        <Title order={2} className={classes.title} title={panelContent.title}>
          {panelContent.title}
        </Title>
        {panelContent.menu}
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={t.close} onClick={close}>
          <IconX size={16} stroke={1.75} aria-hidden />
        </ActionIcon>
      </Group>
      {panelContent.content}
    </EditorPanel>
  );
}

interface PanelContent {
  title: string;
  icon?: ReactNode;
  menu?: ReactNode;
  content: ReactNode;
}

function getPanelContent(p: PanelProps, step: Step | undefined): PanelContent | undefined {
  const { panel, run, view, days } = p.search;
  if (panel === 'try') {
    const onRun = (id: string | undefined) => {
      p.onPreview(undefined);
      p.open({ panel, ...(view && { view }), ...(days && { days }), ...(id !== undefined && { run: id }) });
    };
    const tryOut = (
      <TestPanel
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
    return { title: t.test, content: tryOut };
  }
  if (!step) return undefined;
  return {
    title: step.name || getLabel('step', step.type),
    icon: <StepIcon type={step.type} />,
    menu: <StepMenu step={step} onRemove={p.onRemove} />,
    content: <StepPanel key={step.id} {...p} step={step} />,
  };
}

function StepMenu({ step, onRemove }: { step: Step; onRemove: (stepId: string) => void }) {
  return (
    <MoreMenu of={step.name}>
      <MoreItem icon={IconTrash} needs="workflows:edit" isDestructive onClick={() => onRemove(step.id)}>
        {t.remove}
      </MoreItem>
    </MoreMenu>
  );
}

/**
 * How many contacts completed the step, are at it, were skipped, and failed. A click on a number opens the list of
 * these contacts.
 */
function StepFigures({
  counts: { completed, waiting, running, skipped, failed, emails },
  onCount,
  hrefOf,
}: {
  counts: StepCounts;
  onCount: (count: StepCountKind) => void;
  hrefOf: (count: StepCountKind) => string;
}) {
  const figures = [
    { count: 'COMPLETED', label: t.figures.completed, n: completed },
    { count: 'here', label: t.figures.here, n: waiting + running },
    { count: 'SKIPPED', label: t.figures.skipped, n: skipped },
    { count: 'FAILED', label: t.figures.failed, n: failed },
  ] as const;
  return (
    <dl className={classes.figures}>
      {figures.map(({ count, label, n }) => (
        <div key={count}>
          <dt>{label}</dt>
          <dd data-failed={(count === 'FAILED' && n > 0) || undefined}>
            <CountLink href={hrefOf(count)} onOpen={() => onCount(count)} label={`${label}: ${formatCount(n)}`}>
              {formatCount(n)}
            </CountLink>
          </dd>
        </div>
      ))}
      {emails && emails.sent > 0 && (
        <>
          <Rate label={t.figures.opened} part={emails.opened} whole={emails.sent} />
          <Rate label={t.figures.clicked} part={emails.clicked} whole={emails.sent} />
        </>
      )}
    </dl>
  );
}

/** A rate of the step's latest emails. */
function Rate({ label, part, whole }: { label: string; part: number; whole: number }) {
  return (
    <div title={t.ratesOf(whole)}>
      <dt>{label}</dt>
      <dd>{formatShare(part, whole)}</dd>
    </div>
  );
}

function StepPanel({ step, ...p }: PanelProps & { step: Step }) {
  const counts = p.stats.get(step.id);
  const contactsHere = counts ? counts.waiting + counts.running : 0;
  const { visits, branch, ...search } = p.search;
  const tab = search.panel === 'people' || search.panel === 'visits' ? search.panel : 'settings';
  return (
    <>
      {counts && (
        <StepFigures
          counts={counts}
          onCount={(count) => p.open(createCountSearch(p.search, step.id, count))}
          hrefOf={(count) => p.countHref(step.id, count)}
        />
      )}
      <Tabs
        value={tab}
        onChange={(next) => p.open({ ...search, panel: next === 'people' || next === 'visits' ? next : 'settings' })}
        keepMounted={false}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="settings">{t.settings}</Tabs.Tab>
          <Tabs.Tab value="people">{contactsHere > 0 ? `${t.here} (${contactsHere})` : t.here}</Tabs.Tab>
          <Tabs.Tab value="visits">{t.historyTab}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="settings">
          <StepSettings
            step={step}
            eventName={getStartEvent(p.workflow) ?? ''}
            editor={p.editor}
            faults={p.faults.steps.get(step.id) ?? []}
            onAdd={p.onAdd}
          />
        </Tabs.Panel>
        <Tabs.Panel value="people">
          <ContactsAtStep workflowId={p.workflow.id} step={step} live />
        </Tabs.Panel>
        <Tabs.Panel value="visits">
          <Visits
            workflowId={p.workflow.id}
            step={step}
            status={visits ?? chooseFirstList(counts)}
            branch={branch}
            counts={counts}
            onStatus={(status) => p.open({ ...search, panel: 'visits', visits: status })}
          />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/**
 * Returns the list that opens first: failed contacts if there are any. Otherwise, skipped contacts if there are any and
 * no contact completed the step. Otherwise, completed contacts.
 */
function chooseFirstList(counts: StepCounts | undefined): VisitStatus {
  if (!counts || counts.failed > 0) return counts ? 'FAILED' : 'COMPLETED';
  return counts.completed === 0 && counts.skipped > 0 ? 'SKIPPED' : 'COMPLETED';
}
