import { ActionIcon, Group, SegmentedControl, Text, Tooltip } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconDeviceFloppy,
  IconPlayerPlay,
  IconSettings,
  IconSitemap,
} from '@tabler/icons-react';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton, useWhyNot } from '../../../parts/action-button.tsx';
import { AppLink } from '../../../parts/app-link.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { tellDone, tellFailure } from '../../../parts/tell.tsx';
import { text } from '../../../text/text.ts';
import { State } from '../automations.tsx';
import type { GraphFaults } from '../graph/faults.ts';
import type { WorkflowDetail } from '../graph/graph.ts';
import { tidy } from '../graph/layout.ts';
import type { AutomationSearch } from '../routes.ts';
import type { Editor } from './use-editor.ts';

const t = text.automations;

/** The header of the editor: name, state, and actions on the whole automation. */
export function Toolbar({
  workflow,
  editor,
  faults,
  isChecking,
  view,
  onView,
  onSave,
  onPanel,
}: {
  workflow: WorkflowDetail;
  editor: Editor;
  faults: GraphFaults;
  isChecking: boolean;
  view: 'canvas' | 'list';
  /** Absent if there is only one view. */
  onView: ((view: 'canvas' | 'list') => void) | undefined;
  onSave: () => void;
  onPanel: (panel: NonNullable<AutomationSearch['panel']>) => void;
}) {
  const readOnly = useWhyNot('workflows:edit') !== undefined;
  return (
    <PageHead
      back={{ to: '/automations', label: text.nav.automations }}
      title={workflow.name}
      subtitle={
        <Group gap="xs">
          <State enabled={workflow.enabled} />
          <Text size="sm" component="span" aria-live="polite">
            {editor.isDirty ? t.unsaved : t.allSaved}
          </Text>
          <AppLink to={`/messages/executions/${workflow.id}`}>{t.allRuns}</AppLink>
          {onView && (
            <SegmentedControl
              aria-label={t.view}
              size="xs"
              value={view}
              onChange={(next) => onView(next === 'list' ? 'list' : 'canvas')}
              data={[
                { value: 'canvas', label: t.canvas },
                { value: 'list', label: t.list },
              ]}
            />
          )}
        </Group>
      }
      actions={
        <>
          <Icon label={t.undo} disabled={!editor.canUndo || readOnly} onClick={editor.undo} icon={IconArrowBackUp} />
          <Icon label={t.redo} disabled={!editor.canRedo || readOnly} onClick={editor.redo} icon={IconArrowForwardUp} />
          <Icon label={t.tidy} disabled={readOnly} onClick={() => editor.change(tidy)} icon={IconSitemap} />
          <Icon label={t.automation} onClick={() => onPanel('automation')} icon={IconSettings} />
          <ActionButton
            needs="workflows:view"
            variant="default"
            leftSection={<IconPlayerPlay size={16} />}
            onClick={() => onPanel('try')}
          >
            {t.tryOut}
          </ActionButton>
          <Enable workflow={workflow} editor={editor} faults={faults} isChecking={isChecking} />
          <ActionButton
            needs="workflows:edit"
            leftSection={<IconDeviceFloppy size={16} />}
            loading={editor.isSaving}
            whyNot={editor.isDirty ? undefined : t.noChanges}
            onClick={onSave}
          >
            {t.save}
          </ActionButton>
        </>
      }
    />
  );
}

function Icon(p: { label: string; onClick: () => void; icon: typeof IconSettings; disabled?: boolean }) {
  return (
    <Tooltip label={p.label}>
      <ActionIcon variant="default" size="lg" aria-label={p.label} disabled={p.disabled === true} onClick={p.onClick}>
        <p.icon size={18} stroke={1.7} />
      </ActionIcon>
    </Tooltip>
  );
}

/** Nothing that is not saved or could not run is enabled; the reason is at the button. */
function Enable({
  workflow: { id, enabled, updatedAt },
  editor,
  faults,
  isChecking,
}: {
  workflow: WorkflowDetail;
  editor: Editor;
  faults: GraphFaults;
  isChecking: boolean;
}) {
  const write = useWrite('updateWorkflow', { changes: ['getWorkflow', 'listWorkflows'] });
  const set = (wanted: boolean) =>
    write.mutate(
      { params: { id }, body: { enabled: wanted, updatedAt } },
      { onSuccess: () => tellDone(wanted ? t.enabledNow : t.disabledNow), onError: tellFailure },
    );
  if (enabled) {
    return (
      <ActionButton needs="workflows:edit" variant="default" loading={write.isPending} onClick={() => set(false)}>
        {t.disable}
      </ActionButton>
    );
  }
  const isFaulty = faults.steps.size + faults.rest.length > 0;
  const whyNot = editor.isDirty ? t.saveFirst : isFaulty ? t.mendFirst : undefined;
  return (
    <ActionButton
      needs="workflows:edit"
      color="green"
      variant="light"
      loading={write.isPending}
      disabled={isChecking && !write.isPending}
      whyNot={whyNot}
      onClick={() => set(true)}
    >
      {t.enable}
    </ActionButton>
  );
}
