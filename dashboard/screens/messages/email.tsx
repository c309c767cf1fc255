import { Box, Code, Grid, Group, SegmentedControl, Stack, Table, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { hasDarkRules, toDarkMode } from '../../parts/email-editor/dark-email.ts';
import { ScaledFrame } from '../../parts/email-editor/scaled-frame.tsx';
import { WholeEmail } from '../../parts/email-editor/whole-email.tsx';
import { EmailStatus } from '../../parts/email-status.tsx';
import { GrayBlock, GrayCard, GrayColumns, GrayTabs, GrayTimeline } from '../../parts/gray-parts.tsx';
import { ExactTime } from '../../parts/instant.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { text } from '../../text/text.ts';
import classes from './email.module.css';
import { EmailFacts } from './email-facts.tsx';
import { EmailTimeline } from './email-timeline.tsx';
import type { Email } from './email-type.ts';
import { MessageMenu } from './message-menu.tsx';
import { NotSent } from './not-sent.tsx';
import { Recipient } from './recipient.tsx';
import { Resend } from './resend.tsx';
import { EMAIL_VIEWS, type EmailView } from './search.ts';

/** Interval of refreshes until the email has a result. */
const UNSENT_POLL_MS = 1_000;
/** Interval of refreshes after that. Bounces, opens and clicks still change a sent email. */
const SENT_POLL_MS = 15_000;
const BACK = { to: '/messages', label: text.messages.backTo };
const UNSENT: readonly Email['status'][] = ['PENDING', 'SENDING'];

/** One email: its views, result, reason, timeline and facts. */
export function EmailPage() {
  const { id } = useParams({ from: '/shell/messages/$id' });
  const email = useQuery({
    ...queryFor('getEmail', { params: { id } }),
    refetchInterval: ({ state }) =>
      state.data && UNSENT.includes(state.data.data.status) ? UNSENT_POLL_MS : SENT_POLL_MS,
  });
  return (
    <RecordQuery of={email} title={text.subjects.email} back={BACK} pending={<GrayEmail />}>
      {({ data }) => <EmailDetails email={data} />}
    </RecordQuery>
  );
}

function GrayEmail() {
  return (
    <GrayColumns
      aside={
        <>
          <GrayTimeline entries={3} />
          <GrayCard lines={6} />
        </>
      }
    >
      <div>
        <GrayTabs count={EMAIL_VIEWS.length} mb="sm" />
        <GrayBlock height={HEIGHT} />
      </div>
    </GrayColumns>
  );
}

function EmailDetails({ email }: { email: Email }) {
  return (
    <>
      <PageHead
        title={email.subject || text.messages.noSubject}
        status={<EmailStatus status={email.status} reason={email.reason} />}
        subtitle={
          <>
            {text.messages.sentTo} <Recipient to={email.to} contactId={email.contactId} /> ·{' '}
            <ExactTime at={email.createdAt} /> · {text.messages.sources[email.sourceType]}
          </>
        }
        back={BACK}
        actions={
          <>
            <Resend email={email} />
            <MessageMenu id={email.id} path={`/v1/emails/${email.id}`} />
          </>
        }
      />
      <Grid gutter="lg">
        <Grid.Col span={{ base: 12, md: 7.5 }}>
          <Reason email={email} />
          <Views email={email} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4.5 }}>
          <Stack gap="lg">
            <EmailTimeline email={email} />
            <EmailFacts email={email} />
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

/** Says why the email was not sent or not delivered, and links to the contact. */
function Reason({ email: { reason, contactId } }: { email: Email }) {
  if (!reason) return null;
  return (
    <NotSent reason={reason}>
      {contactId && <AppLink to={`/contacts/${contactId}`}>{text.messages.viewContact}</AppLink>}
    </NotSent>
  );
}

/** Views of the email. The selected view is in the URL. */
function Views({ email }: { email: Email }) {
  const { view = 'mail' } = useSearch({ from: '/shell/messages/$id' });
  const navigate = useNavigate();
  const [screen, setScreen] = useState<Screen>('desktop');
  const show = (next: string | null) =>
    void navigate({
      to: '/messages/$id',
      params: { id: email.id },
      search: next === 'mail' ? {} : { view: next as EmailView },
      replace: true,
    });
  return (
    <Tabs value={view} onChange={show} keepMounted={false} aria-label={text.messages.viewsLabel} pos="relative">
      {view === 'mail' && (
        <SegmentedControl
          size="xs"
          visibleFrom="sm"
          className={classes.screens}
          aria-label={text.emailEditor.preview}
          value={screen}
          onChange={(value) => setScreen(value as Screen)}
          data={SCREENS.map((value) => ({ value, label: text.emailEditor[value] }))}
        />
      )}
      <Tabs.List mb="sm">
        {EMAIL_VIEWS.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {text.messages.views[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {EMAIL_VIEWS.map((name) => (
        <Tabs.Panel key={name} value={name}>
          {VIEWS[name](email, screen)}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

const VIEWS: Record<EmailView, (email: Email, screen: Screen) => React.ReactNode> = {
  mail: ({ body }, screen) => <Rendered html={body} screen={screen} />,
  text: ({ text: words }) => <Plain value={words} />,
  headers: (email) => <Headers headers={email.headers} />,
  source: ({ body }) => <Plain value={body} />,
  events: ({ events }) => <Events events={events} />,
};

const SCREENS = ['desktop', 'phone', 'dark'] as const;
type Screen = (typeof SCREENS)[number];
const DESKTOP_PX = 640;
const PHONE_PX = 390;
/** Height of an email that is not measured yet, in pixels. */
const HEIGHT = 320;

/** Shows the email as an email app on a laptop does. On a wide screen, also as on a phone or in dark mode. */
function Rendered({ html, screen }: { html: string; screen: Screen }) {
  const width = screen === 'phone' ? PHONE_PX : DESKTOP_PX;
  const isDark = screen === 'dark';
  return (
    <Box className={classes.desk}>
      <Box w="100%" maw={width}>
        {screen === 'desktop' ? (
          <WholeEmail html={html} />
        ) : (
          <ScaledFrame
            html={isDark ? toDarkMode(html) : html}
            screen={width}
            height={HEIGHT}
            isWhole
            colorScheme={isDark && hasDarkRules(html) ? 'dark' : 'light'}
          />
        )}
      </Box>
    </Box>
  );
}

function Plain({ value }: { value: string }) {
  if (value === '') return <Text c="dimmed">{text.messages.noText}</Text>;
  return (
    <>
      <Group justify="flex-end">
        <CopyButton value={value} />
      </Group>
      <Code block tabIndex={0} mah={560} style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {value}
      </Code>
    </>
  );
}

function Headers({ headers }: { headers: Record<string, string> }) {
  return (
    <Table aria-label={text.messages.views.headers} verticalSpacing={6}>
      <Table.Tbody>
        {Object.entries(headers).map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" w={160} style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
              {name}
            </Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Events({ events }: Pick<Email, 'events'>) {
  if (events.length === 0) return <Text c="dimmed">{text.messages.noEvents}</Text>;
  return (
    <Stack gap="sm">
      {events.map(({ id, name, data, createdAt }) => (
        <details key={id}>
          <summary>
            <Text span fw={600}>
              {name}
            </Text>{' '}
            <Text span c="dimmed" size="sm">
              <ExactTime at={createdAt} />
            </Text>
          </summary>
          <JsonView value={data} />
        </details>
      ))}
    </Stack>
  );
}
