import { IconList, IconPlayerPause, IconPlayerPlay, IconSitemap, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton, useMissingPermission } from '../../../parts/action-button.tsx';
import { EditorNav } from '../../../parts/editor-frame.tsx';
import { MoreItem, MoreMenu } from '../../../parts/more-menu.tsx';
import { notifyFailure, notifySuccess } from '../../../parts/notifications.tsx';
import { SavedState } from '../../../parts/saved-state.tsx';
import { UndoRedo } from '../../../parts/undo-redo.tsx';
import { text } from '../../../text/text.ts';
import { State } from '../automations.tsx';
import type { GraphFaults } from '../graph/faults.ts';
import type { WorkflowDetail } from '../graph/graph.ts';
import { withLayout } from '../graph/layout.ts';
import { DeleteAutomation } from '../panel/automation-settings.tsx';
import type { Editor } from './use-editor.ts';

const t = text.automations;

/** The state of an automation, beside its name. */
export function EditorState({ workflow, editor }: { workflow: WorkflowDetail; editor: Editor }) {
  return (
    <>
      <State enabled={workflow.enabled} />
      <SavedState isUnsaved={editor.isDirty} savedAt={workflow.updatedAt} />
    </>
  );
}

/** The sections of an automation: its steps and its settings in the editor, and the list of its runs. */
export function Sections({
  workflow: { id },
  isSettings,
  onSection,
}: {
  workflow: WorkflowDetail;
  isSettings: boolean;
  onSection: (section: 'steps' | 'settings') => void;
}) {
  const path = `/automations/${id}`;
  return (
    <EditorNav
      label={t.sections}
      sections={[
        { name: t.stepsTab, to: path, isCurrent: !isSettings, onOpen: () => onSection('steps') },
        { name: t.runsTab, to: `/messages/executions/${id}`, isCurrent: false },
        {
          name: t.settings,
          to: `${path}?panel=automation`,
          isCurrent: isSettings,
          onOpen: () => onSection('settings'),
        },
      ]}
    />
  );
}

/** The actions on the whole automation, in the header of the editor. */
export function Toolbar({
  workflow,
  editor,
  faults,
  isChecking,
  view,
  onView,
  onSave,
  onTest,
}: {
  workflow: WorkflowDetail;
  editor: Editor;
  faults: GraphFaults;
  isChecking: boolean;
  view: 'canvas' | 'list';
  /** Absent if there is only one view. */
  onView: ((view: 'canvas' | 'list') => void) | undefined;
  onSave: () => void;
  onTest: () => void;
}) {
  const readOnly = useMissingPermission('workflows:edit') !== undefined;
  const { enabled } = workflow;
  return (
    <>
      <UndoRedo
        undo={editor.canUndo && !readOnly ? editor.undo : undefined}
        redo={editor.canRedo && !readOnly ? editor.redo : undefined}
      />
      <ActionButton
        needs="workflows:view"
        variant="default"
        leftSection={<IconPlayerPlay size={16} stroke={1.75} aria-hidden />}
        onClick={onTest}
      >
        {t.tryOut}
      </ActionButton>
      {(enabled || editor.isDirty) && (
        <ActionButton
          needs="workflows:edit"
          loading={editor.isSaving}
          whyNot={editor.isDirty ? undefined : t.noChanges}
          onClick={onSave}
        >
          {enabled ? t.publish : t.save}
        </ActionButton>
      )}
      {!enabled && !editor.isDirty && <Enable workflow={workflow} faults={faults} isChecking={isChecking} />}
      <More workflow={workflow} editor={editor} view={view} onView={onView} />
    </>
  );
}

function useEnable({ id, updatedAt }: WorkflowDetail) {
  const write = useWrite('updateWorkflow', { changes: ['getWorkflow', 'listWorkflows'] });
  const set = (enabled: boolean) =>
    write.mutate(
      { params: { id }, body: { enabled, updatedAt } },
      { onSuccess: () => notifySuccess(enabled ? t.enabledNow : t.disabledNow), onError: notifyFailure },
    );
  return { set, isPending: write.isPending };
}

/** Enables a saved automation. If it could not run, the button says why. */
function Enable({
  workflow,
  faults,
  isChecking,
}: {
  workflow: WorkflowDetail;
  faults: GraphFaults;
  isChecking: boolean;
}) {
  const { set, isPending } = useEnable(workflow);
  const isFaulty = faults.steps.size + faults.rest.length > 0;
  return (
    <ActionButton
      needs="workflows:edit"
      loading={isPending}
      disabled={isChecking && !isPending}
      whyNot={isFaulty ? t.mendFirst : undefined}
      onClick={() => set(true)}
    >
      {t.enable}
    </ActionButton>
  );
}

/** Rare actions: the other view, the layout, and the actions that stop or delete the automation. */
function More({
  workflow,
  editor,
  view,
  onView,
}: {
  workflow: WorkflowDetail;
  editor: Editor;
  view: 'canvas' | 'list';
  onView: ((view: 'canvas' | 'list') => void) | undefined;
}) {
  const [deletes, setDeletes] = useState(false);
  const { set, isPending } = useEnable(workflow);
  return (
    <>
      <MoreMenu>
        {onView && (
          <MoreItem icon={IconList} onClick={() => onView(view === 'list' ? 'canvas' : 'list')}>
            {view === 'list' ? t.showCanvas : t.showList}
          </MoreItem>
        )}
        <MoreItem icon={IconSitemap} needs="workflows:edit" onClick={() => editor.change(withLayout)}>
          {t.tidy}
        </MoreItem>
        {workflow.enabled && (
          <MoreItem icon={IconPlayerPause} needs="workflows:edit" isPending={isPending} onClick={() => set(false)}>
            {t.disable}
          </MoreItem>
        )}
        <MoreItem icon={IconTrash} needs="workflows:edit" isDestructive onClick={() => setDeletes(true)}>
          {t.deleteIt}
        </MoreItem>
      </MoreMenu>
      {deletes && <DeleteAutomation workflow={workflow} onClose={() => setDeletes(false)} />}
    </>
  );
}
