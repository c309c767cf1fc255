import { Alert, Button, Stack } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { IconDeviceFloppy, IconEye, IconSend } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../parts/action-button.tsx';
import { EditorFrame, EditorPage, EditorQuery, type EditorTool } from '../../parts/editor-frame.tsx';
import { GrayEmailEditor } from '../../parts/email-editor/pending-email-editor.tsx';
import { Failed } from '../../parts/failed.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { GrayLines } from '../../parts/pending-lines.tsx';
import { Conflict } from '../../parts/record-edit/conflict.tsx';
import { RestoredDraft } from '../../parts/record-edit/restored-draft.tsx';
import { isStale, type RecordEdit, useRecordEdit } from '../../parts/record-edit/use-record-edit.ts';
import { type Undo, useUndo } from '../../parts/record-edit/use-undo.ts';
import { SavedState } from '../../parts/saved-state.tsx';
import { createUndoTools, useUndoHotkeys } from '../../parts/undo-redo.ts';
import { useIsPhone } from '../../parts/use-is-phone.ts';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { AudienceStep } from './audience-step.tsx';
import { type CampaignDraft, hasAudience, toCampaignDraft, toChangedFields } from './campaign-draft.ts';
import { fieldAsText } from './campaign-fields.ts';
import { useCampaignMenu } from './campaign-menu.tsx';
import { ContentStep } from './content-step.tsx';
import type { Editing } from './editing.ts';
import { CampaignPreview } from './preview-dialog.tsx';
import { ReviewStep } from './review-step.tsx';
import { TestDialog } from './test-dialog.tsx';
import { WhenStep } from './when-step.tsx';
import { CAMPAIGN_OPERATIONS, type Campaign, type CampaignEditorStep, STEPS } from './words.ts';

const words = text.campaigns;
const BACK = { to: '/campaigns', label: words.title };

/**
 * The editor of an unsent campaign, in four steps. The step is in the URL. A campaign that has started redirects
 * to its report.
 */
export function EditCampaign() {
  const { campaignId } = useParams({ from: '/shell/campaigns/$campaignId/edit' });
  const { step = 'content' } = useSearch({ from: '/shell/campaigns/$campaignId/edit' });
  const campaign = useQuery(queryFor('getCampaign', { params: { id: campaignId } }));
  return (
    <EditorQuery
      of={campaign}
      back={BACK}
      pending={step === 'content' ? <GrayEmailEditor /> : <GrayStep step={step} />}
    >
      {(loaded) =>
        loaded.status === 'DRAFT' || loaded.status === 'SCHEDULED' ? (
          <Editor key={loaded.id} campaign={loaded} />
        ) : (
          <Navigate to="/campaigns/$campaignId" params={{ campaignId }} replace />
        )
      }
    </EditorQuery>
  );
}

const PAGES = { audience: AudienceStep, review: ReviewStep, when: WhenStep };

/** The placeholder of a step other than the content. */
function GrayStep({ step }: { step: keyof typeof PAGES }) {
  return (
    <EditorPage width={getPageWidth(step)}>
      <GrayLines count={6} gap={24} />
    </EditorPage>
  );
}

/** Returns the width of a step's column in pixels. */
function getPageWidth(step: keyof typeof PAGES): number {
  return step === 'when' ? 640 : 760;
}

function Editor({ campaign }: { campaign: Campaign }) {
  const { step = 'content' } = useSearch({ from: '/shell/campaigns/$campaignId/edit' });
  const { edit, history, ...editing } = useEditing(campaign);
  const Page = step === 'content' ? undefined : PAGES[step];
  const save = () => void editing.save().then((done) => done && notifySuccess(words.saved));
  useHotkeys([['mod+S', () => editing.isUnsaved && !editing.isReadOnly && save()]], [], true);
  useUndoHotkeys(history);
  const isPhone = useIsPhone();
  const [isPreviewOpen, previewDialog] = useDisclosure();
  const [isTestOpen, testDialog] = useDisclosure();
  const menu = useCampaignMenu(campaign);
  const next = STEPS[STEPS.indexOf(step) + 1];
  const saving = {
    needs: 'campaigns:edit',
    whyNot: edit.hasConflict ? text.parts.conflict.chooseFirst : undefined,
    onClick: save,
  } as const;
  const tools: EditorTool[] = [
    ...(isPhone && editing.isUnsaved ? [{ label: words.save, icon: IconDeviceFloppy, ...saving }] : []),
    ...(editing.isReadOnly ? [] : createUndoTools(history)),
    { label: text.emailEditor.preview, icon: IconEye, onClick: previewDialog.open },
    { label: words.test, icon: IconSend, needs: 'campaigns:send', onClick: testDialog.open },
  ];
  return (
    <EditorFrame
      back={BACK}
      title={campaign.name}
      state={
        <>
          <WordBadge kind="campaign" value={campaign.status} />
          <SavedState isUnsaved={editing.isUnsaved} savedAt={campaign.updatedAt} />
          {editing.isUnsaved && !isPhone && (
            <ActionButton {...saving} variant="default" size="compact-sm" loading={editing.isSaving}>
              {words.save}
            </ActionButton>
          )}
        </>
      }
      nav={{
        areSteps: true,
        label: words.stepsLabel,
        sections: STEPS.map((name) => ({
          name: words.steps[name],
          to: `/campaigns/${campaign.id}/edit?step=${name}`,
          isCurrent: name === step,
          onOpen: () => editing.goTo(name),
        })),
      }}
      tools={tools}
      // The last step has its own button, which sends.
      primary={
        next && (
          <Button
            onClick={() => editing.goTo(next)}
            loading={editing.isSaving}
            aria-label={words.continueTo(words.steps[next])}
          >
            {isPhone ? words.continue : words.continueTo(words.steps[next])}
          </Button>
        )
      }
      menu={menu.items}
      notices={<Notices edit={edit} editing={editing} />}
    >
      {Page && step !== 'content' ? (
        <EditorPage width={getPageWidth(step)}>
          <Page {...editing} />
        </EditorPage>
      ) : (
        <ContentStep {...editing} onSave={save} />
      )}
      {menu.dialog}
      {isPreviewOpen && <CampaignPreview draft={editing.draft} onClose={previewDialog.close} />}
      {isTestOpen && <TestDialog {...editing} onClose={testDialog.close} />}
    </EditorFrame>
  );
}

function Notices({ edit, editing }: { edit: RecordEdit<CampaignDraft>; editing: Editing }) {
  const isLost = editing.isUnsaved && !edit.isStored;
  if (!edit.hasConflict && !edit.isRestored && !isLost && !editing.failure) return null;
  return (
    <Stack gap="xs">
      <Conflict edit={edit} labels={words.fieldNames} show={fieldAsText} />
      {edit.isRestored && !edit.hasConflict && (
        <RestoredDraft discardLabel={words.discardDraft} onDiscard={edit.discard}>
          {words.draftKept}
        </RestoredDraft>
      )}
      {isLost && (
        <Alert color="yellow" p="xs">
          {text.parts.notKept}
        </Alert>
      )}
      {editing.failure && <Failed error={editing.failure} />}
    </Stack>
  );
}

function useEditing(campaign: Campaign): Editing & { edit: RecordEdit<CampaignDraft>; history: Undo<CampaignDraft> } {
  const navigate = useNavigate();
  const isReadOnly = useMissingPermissionText('campaigns:edit') !== undefined;
  const saved = useMemo(() => toCampaignDraft(campaign), [campaign]);
  const queries = useQueryClient();
  const write = useWrite('updateCampaign', { changes: CAMPAIGN_OPERATIONS });
  const edit = useRecordEdit({
    name: `campaign:${campaign.id}`,
    stored: saved,
    isSaving: write.isPending,
    oldNames: { versions: 'variants' },
  });
  const draft = edit.fields;
  const history = useUndo(draft, (part) => {
    write.reset();
    edit.change(part);
  });
  const save = async () => {
    if (edit.hasConflict) return false;
    // The API refuses an incomplete audience. The stored audience then stays, and this browser keeps the draft.
    const sent = hasAudience(draft) ? draft : { ...draft, ...pickAudience(saved) };
    try {
      const body = { ...toChangedFields(sent, saved), updatedAt: campaign.updatedAt };
      const stored = await write.mutateAsync({ params: { id: campaign.id }, body });
      edit.markSaved(sent, toCampaignDraft(stored));
      return stored.updatedAt;
    } catch (error) {
      // The editor shows an error of the API. Any other error is a bug of the dashboard.
      if (!(error instanceof ApiFailure)) throw error;
      if (isStale(error)) {
        edit.markStale();
        await queries.invalidateQueries({ queryKey: ['getCampaign'] });
      }
      return false;
    }
  };
  const open = (step: CampaignEditorStep) =>
    void navigate({ to: '/campaigns/$campaignId/edit', params: { campaignId: campaign.id }, search: { step } });
  return {
    campaign,
    draft,
    change: history.change,
    save,
    isSaving: write.isPending,
    isUnsaved: edit.isTouched,
    fault: (field) => write.error?.fields.find((one) => one.field === field)?.message,
    failure: isStale(write.error) ? null : write.error,
    isReadOnly,
    goTo: (step) => {
      if (!edit.isTouched || isReadOnly) open(step);
      else void save().then((done) => done && open(step));
    },
    edit,
    history,
  };
}

function pickAudience({ audienceType, segmentId, condition }: CampaignDraft) {
  return { audienceType, segmentId, condition };
}
