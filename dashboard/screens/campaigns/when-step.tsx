import { Group, Paper, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { InputOf } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { Failed } from '../../parts/failed.tsx';
import { describeDuration } from '../../parts/format-duration.ts';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { type CampaignDraft, hasAudience, hasUnreviewedChanges, toCampaignDraft } from './campaign-draft.ts';
import type { Editing } from './editing.ts';
import { isFuture, toLocalInput, ZONE } from './local-input.ts';
import { TestSettings } from './test-settings.tsx';
import { WindowSettings } from './window-settings.tsx';
import { CAMPAIGN_OPERATIONS } from './words.ts';

const words = text.campaigns;
/**
 * From this many recipients, the user confirms an immediate send by typing the number of recipients, because a mistake
 * would reach too many people to correct it one by one.
 */
const LARGE_AUDIENCE = 100;
const SEND_MODES = ['now', 'at', 'local'] as const;
type SendMode = (typeof SEND_MODES)[number];

/** When the campaign is sent, and the button that sends or schedules it. */
export function WhenStep(editing: Editing) {
  const { campaign } = editing;
  const { sendAtLocal, scheduledFor } = campaign;
  const [sendMode, setSendMode] = useState<SendMode>(sendAtLocal ? 'local' : scheduledFor ? 'at' : 'now');
  const [at, setAt] = useState(scheduledFor ? toLocalInput(new Date(scheduledFor)) : '');
  const [localTime, setLocalTime] = useState(sendAtLocal ?? '');
  const [late, setLate] = useState(campaign.latePolicy);
  const body: InputOf<'sendCampaign'>['body'] = {
    ...(sendMode === 'at' && isFuture(at) && { scheduledFor: new Date(at).toISOString() }),
    sendAtLocal: sendMode === 'local' ? localTime : null,
    ...(sendMode === 'local' && { latePolicy: late }),
  };
  return (
    <Stack>
      <Paper withBorder p="md">
        <Radio.Group label={words.whenTitle} value={sendMode} onChange={(next) => setSendMode(next as SendMode)}>
          <Stack gap="xs" mt="xs">
            {SEND_MODES.map((value) => (
              <Radio key={value} value={value} label={words.whens[value]} description={words.whensHelp[value]} />
            ))}
          </Stack>
        </Radio.Group>
        {sendMode === 'at' && (
          <TextInput
            mt="sm"
            type="datetime-local"
            label={words.atTime}
            description={words.atZone(ZONE)}
            value={at}
            onChange={(event) => setAt(event.currentTarget.value)}
            w={280}
          />
        )}
        {sendMode === 'local' && (
          <Group mt="sm" align="flex-start">
            <TextInput
              type="datetime-local"
              label={words.localTime}
              description={words.localHelp}
              value={localTime}
              onChange={(event) => setLocalTime(event.currentTarget.value)}
              w={280}
            />
            <Select
              label={words.late}
              data={(['SEND', 'SKIP'] as const).map((value) => ({ value, label: words.latePolicies[value] }))}
              value={late}
              onChange={(next) => setLate(next === 'SKIP' ? 'SKIP' : 'SEND')}
              allowDeselect={false}
              w={200}
            />
          </Group>
        )}
      </Paper>
      <WindowSettings {...editing} />
      {editing.draft.variants.length > 0 && <TestSettings {...editing} />}
      <Send
        editing={editing}
        sendMode={sendMode}
        body={body}
        isTimed={sendMode === 'now' || isFuture(sendMode === 'at' ? at : localTime)}
      />
    </Stack>
  );
}

function Send({
  editing: { campaign, draft, save, isUnsaved, isSaving },
  sendMode,
  body,
  isTimed,
}: {
  editing: Editing;
  sendMode: SendMode;
  body: InputOf<'sendCampaign'>['body'];
  isTimed: boolean;
}) {
  const navigate = useNavigate();
  const [isConfirming, setConfirming] = useState(false);
  const review = useQuery({ ...queryFor('reviewCampaign', { params: { id: campaign.id } }), staleTime: 0 });
  const write = useWrite('sendCampaign', { changes: CAMPAIGN_OPERATIONS });
  const willSend = review.data?.willSend ?? 0;
  const written = formatCount(willSend);
  const send = async () => {
    const seenAt = isUnsaved ? await save() : campaign.updatedAt;
    if (seenAt === false) return;
    // If the API refuses the request, the screen shows the error below.
    await write.mutateAsync({ params: { id: campaign.id }, body, seenAt }).then(
      ({ data }) => {
        notifySuccess(data.status === 'SCHEDULED' ? words.scheduled : words.sending);
        void navigate({ to: '/campaigns/$campaignId', params: { campaignId: campaign.id } });
      },
      () => undefined,
    );
  };
  // The numbers and checks of the review are of the stored campaign.
  const whyNotReviewed = findReasonNotReviewed(draft, toCampaignDraft(campaign));
  const whyNot = whyNotReviewed ?? findReasonNotToSend({ review: review.data, isTimed });
  const isDialogOpen = isConfirming && whyNot === undefined;
  const label = { now: words.sendNow(willSend, written), at: words.schedule, local: words.sendLocal }[sendMode];
  return (
    <Stack gap="xs" align="flex-start">
      {whyNotReviewed !== undefined && (
        <Text size="sm" c="dimmed">
          {whyNotReviewed}
        </Text>
      )}
      {whyNotReviewed === undefined && review.data && (
        <Text size="sm" c="dimmed">
          {words.reach(written, formatCount(review.data.audience))}.{' '}
          {words.sendTime(describeDuration(addTestWait(review.data.estimatedSeconds, campaign, draft)))}
        </Text>
      )}
      {review.error && <Failed error={review.error} retry={() => void review.refetch()} />}
      {write.error && !isDialogOpen && <Failed error={write.error} />}
      <ActionButton
        needs="campaigns:send"
        w={{ base: '100%', sm: 'auto' }}
        loading={write.isPending || isSaving}
        whyNot={whyNot}
        onClick={() => (sendMode === 'now' && willSend >= LARGE_AUDIENCE ? setConfirming(true) : void send())}
      >
        {label}
      </ActionButton>
      {isDialogOpen && (
        <ConfirmTyped
          opened
          onClose={() => setConfirming(false)}
          title={words.confirmTitle}
          what={words.confirmHelp(text.campaigns.segmentCount(willSend, written))}
          word={String(willSend)}
          action={words.confirmSend}
          onConfirm={() => void send()}
          write={{ isPending: write.isPending || isSaving, error: write.error }}
        />
      )}
    </Stack>
  );
}

const MINUTE_SECONDS = 60;

/** Returns the estimate of the saved campaign, with the wait of the test as it is in the draft. */
function addTestWait(seconds: number, { test }: Editing['campaign'], draft: Editing['draft']): number {
  const minutes = (draft.test?.waitMinutes ?? 0) - (test?.waitMinutes ?? 0);
  return Math.max(1, seconds + minutes * MINUTE_SECONDS);
}

/**
 * Returns why the review of the stored campaign does not apply to the draft. The audience must be complete, because a
 * save keeps the stored audience until then. The other changes must be saved.
 */
function findReasonNotReviewed(draft: CampaignDraft, stored: CampaignDraft): string | undefined {
  if (!hasAudience(draft)) return draft.audienceType === 'SEGMENT' ? words.segmentMissing : text.segments.ruleMissing;
  return hasUnreviewedChanges(draft, stored) ? words.saveFirst : undefined;
}

/**
 * Returns why the stored campaign cannot be sent now. During a hold, it can be sent, and its emails wait until the hold
 * ends.
 */
function findReasonNotToSend({
  review,
  isTimed,
}: {
  review: { findings: { severity: string; code: string }[] } | undefined;
  isTimed: boolean;
}): string | undefined {
  if (!review) return words.reviewUnread;
  const hasErrors = review.findings.some(({ severity, code }) => severity === 'error' && code !== 'project_held');
  if (hasErrors) return words.reviewHasErrors;
  return isTimed ? undefined : words.timeMissing;
}
