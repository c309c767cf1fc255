import { Alert, Anchor, Button, Group, List, Paper, Stack, Table, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCircleX, IconInfoCircle, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { describeFinding } from '../../parts/email-editor/findings.ts';
import { describeDuration } from '../../parts/format-duration.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import type { Editing } from './editing.ts';
import { findFixLocation, type ReviewFinding, readDetails } from './findings.ts';
import type { Review } from './words.ts';

const words = text.campaigns;
const ICONS = { error: IconCircleX, warning: IconAlertTriangle, info: IconInfoCircle } as const;
const TONES = { error: 'failed', warning: 'waiting', info: 'moving' } as const;

/** The service's findings before sending, and where to fix them. */
export function ReviewStep({ campaign, goTo, isUnsaved }: Editing) {
  const review = useQuery({ ...queryFor('reviewCampaign', { params: { id: campaign.id } }), staleTime: 0 });
  return (
    <Stack>
      {isUnsaved && <Alert color="yellow">{words.unsaved}</Alert>}
      <QueryView of={review} height={320}>
        {(loaded) => (
          <>
            <Reach {...loaded} />
            <Findings
              findings={loaded.findings}
              goTo={goTo}
              isChecking={review.isFetching}
              onCheck={() => void review.refetch()}
            />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

function Reach({ audience, willSend, skipped, estimatedSeconds }: Review) {
  const skippedReasons = Object.entries(skipped).sort(([, a], [, b]) => b - a);
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h3" mb={4}>
        {willSend === 0 ? words.noRecipients : words.reach(formatCount(willSend), formatCount(audience))}
      </Title>
      {willSend > 0 && (
        <Text size="sm" c="dimmed">
          {words.sendTime(describeDuration(estimatedSeconds))}
        </Text>
      )}
      {skippedReasons.length > 0 && (
        <Table mt="sm" aria-label={words.skippedTitle}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.skippedTitle}</Table.Th>
              <Table.Th ta="right">{text.segments.contacts}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {skippedReasons.map(([reason, n]) => (
              <Table.Tr key={reason}>
                <Table.Td>
                  <WordBadge kind="reason" value={reason} />
                </Table.Td>
                <Table.Td ta="right">{formatCount(n)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Paper>
  );
}

function Findings({
  findings,
  goTo,
  isChecking,
  onCheck,
}: {
  findings: ReviewFinding[];
  goTo: Editing['goTo'];
  isChecking: boolean;
  onCheck: () => void;
}) {
  return (
    <Stack gap="sm" component="section" aria-label={words.findingsTitle}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {words.findingsTitle}
        </Title>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconRefresh size={14} aria-hidden />}
          loading={isChecking}
          onClick={onCheck}
        >
          {words.checkAgain}
        </Button>
      </Group>
      {findings.length === 0 && <Alert color="green">{words.noFindings}</Alert>}
      {findings.map((finding) => (
        <FindingCard key={JSON.stringify(finding)} finding={finding} goTo={goTo} />
      ))}
    </Stack>
  );
}

function FindingCard({ finding, goTo }: { finding: ReviewFinding; goTo: Editing['goTo'] }) {
  const { severity, code } = finding;
  const Icon = ICONS[severity];
  const { lines, variants } = readDetails(finding);
  const location = findFixLocation(code);
  return (
    <Paper withBorder p="md">
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Icon
          size={16}
          stroke={1.75}
          color={`var(--color-${TONES[severity]})`}
          aria-hidden
          style={{ flex: 'none', marginTop: 1 }}
        />
        <Stack gap={4} miw={0} style={{ flex: 1 }}>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {text.emailEditor.severities[severity]}
            </Text>
            {variants && (
              <Text size="sm" c="dimmed">
                {words.ofVariants(variants.join(', '))}
              </Text>
            )}
          </Group>
          <Text size="sm">{describeFinding(finding)}</Text>
          {lines.length > 0 && (
            <List size="sm" spacing={2} style={{ overflowWrap: 'anywhere' }}>
              {lines.map((line) => (
                <List.Item key={line}>{line}</List.Item>
              ))}
            </List>
          )}
          {location && (
            <Text size="sm">
              {location.step === undefined ? (
                <AppLink to={location.to}>{words.fixIn(words.places[location.name])}</AppLink>
              ) : (
                <Anchor component="button" type="button" inherit onClick={() => goTo(location.step)}>
                  {words.fixIn(words.places[location.name])}
                </Anchor>
              )}
            </Text>
          )}
        </Stack>
      </Group>
    </Paper>
  );
}
