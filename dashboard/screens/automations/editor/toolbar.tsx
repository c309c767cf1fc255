import { IconList, IconPlayerPause, IconPlayerPlay, IconSitemap, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import type { EditorSections, EditorTool } from '../../../parts/editor-frame.tsx';
import { MoreItem } from '../../../parts/more-menu.tsx';
import { notifySuccess, runAfterWrite } from '../../../parts/notifications.tsx';
import { SavedState } from '../../../parts/saved-state.tsx';
import { createUndoTools } from '../../../parts/undo-redo.ts';
import { text } from '../../../text/text.ts';
import { EnabledStatus } from '../automations.tsx';
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
      <EnabledStatus enabled={workflow.enabled} />
      <SavedState isUnsaved={editor.isDirty} savedAt={workflow.updatedAt} />
    </>
  );
}

/** Returns the sections of an automation: its steps and its settings in the editor, and the list of its runs. */
export function listSections(
  { id }: WorkflowDetail,
  isSettings: boolean,
  onSection: (section: 'steps' | 'settings') => void,
): EditorSections {
  const path = `/automations/${id}`;
  return {
    label: t.sections,
    sections: [
      { name: t.stepsTab, to: path, isCurrent: !isSettings, onOpen: () => onSection('steps') },
      { name: t.runsTab, to: `/messages/executions/${id}`, isCurrent: false },
      {
        name: t.settings,
        to: `${path}?panel=automation`,
        isCurrent: isSettings,
        onOpen: () => onSection('settings'),
      },
    ],
  };
}

/** Returns the actions on the steps of an automation: undo, redo and a test run. */
export function listTools(editor: Editor, readOnly: boolean, onTest: () => void): EditorTool[] {
  return [
    ...createUndoTools({
      undo: editor.canUndo && !readOnly ? editor.undo : undefined,
      redo: editor.canRedo && !readOnly ? editor.redo : undefined,
    }),
    { label: t.test, icon: IconPlayerPlay, look: 'both', needs: 'workflows:view', onClick: onTest },
  ];
}

/** The main action on an automation: publish or save its changes, or enable it. */
export function MainAction({
  workflow,
  editor,
  faults,
  isChecking,
  onSave,
}: {
  workflow: WorkflowDetail;
  editor: Editor;
  faults: GraphFaults;
  isChecking: boolean;
  onSave: () => void;
}) {
  const { enabled } = workflow;
  if (!enabled && !editor.isDirty) return <Enable workflow={workflow} faults={faults} isChecking={isChecking} />;
  return (
    <ActionButton
      needs="workflows:edit"
      loading={editor.isSaving}
      whyNot={editor.isDirty ? undefined : t.noChanges}
      onClick={onSave}
    >
      {enabled ? t.publish : t.save}
    </ActionButton>
  );
}

function useSetEnabled({ id, updatedAt }: WorkflowDetail) {
  const write = useWrite('updateWorkflow', { changes: ['getWorkflow', 'listWorkflows'] });
  const set = (enabled: boolean) =>
    runAfterWrite(write.mutateAsync({ params: { id }, body: { enabled, updatedAt } }), () =>
      notifySuccess(enabled ? t.enabledNow : t.disabledNow),
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
  const { set, isPending } = useSetEnabled(workflow);
  const isFaulty = faults.steps.size + faults.rest.length > 0;
  return (
    <ActionButton
      needs="workflows:edit"
      loading={isPending}
      disabled={isChecking && !isPending}
      whyNot={isFaulty ? t.fixFirst : undefined}
      onClick={() => set(true)}
    >
      {t.enable}
    </ActionButton>
  );
}

/**
 * Returns the rare actions on an automation: switch the view, tidy up the layout, disable and delete. `dialog` confirms
 * the deletion.
 */
export function useAutomationMenu({
  workflow,
  editor,
  view,
  onView,
}: {
  workflow: WorkflowDetail;
  editor: Editor;
  view: 'canvas' | 'list';
  /** Undefined if there is only one view. */
  onView: ((view: 'canvas' | 'list') => void) | undefined;
}): { items: ReactNode; dialog: ReactNode } {
  const [deletes, setDeletes] = useState(false);
  const { set, isPending } = useSetEnabled(workflow);
  const items = (
    <>
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
        {t.deleteAutomation}
      </MoreItem>
    </>
  );
  return { items, dialog: deletes && <DeleteAutomation workflow={workflow} onClose={() => setDeletes(false)} /> };
}
