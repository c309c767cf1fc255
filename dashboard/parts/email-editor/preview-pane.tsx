import { Alert, Badge, Box, Code, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { text } from '../../text/text.ts';
import { ContactSelect } from '../contact-select.tsx';
import { Failed } from '../failed.tsx';
import { PendingLines } from '../pending-lines.tsx';
import { hasDarkRules, toDarkMode } from './dark-email.ts';
import { describeFinding, formatDetails } from './findings.ts';
import { ScaledFrame } from './scaled-frame.tsx';
import type { EmailPreview } from './use-preview.ts';

const SCREENS = { desktop: 720, phone: 390, dark: 720 } as const;
type PreviewView = keyof typeof SCREENS | 'text';
type Findings = ResponseOf<'previewTemplate'>['findings'];

/** The minimum height of the email, and the height of the pane while it loads. */
const HEIGHT = 420;
const COLORS = { error: 'red', warning: 'yellow', info: 'blue' } as const;

/** Shows the email as recipients see it, on their screen sizes, and the findings of the checks. */
export function PreviewPane({
  preview: { shown, fault, error, retry },
  contactId,
  onContact,
}: {
  preview: EmailPreview;
  contactId: string | null;
  onContact: (id: string | null) => void;
}) {
  const { can } = useSession();
  const [screen, setScreen] = useState<PreviewView>('desktop');
  return (
    <Stack gap="xs" component="section" aria-label={text.emailEditor.preview}>
      <Group justify="space-between" align="flex-end" gap="xs">
        {can('contacts:view') ? (
          <ContactSelect
            label={text.emailEditor.previewAs}
            value={contactId ?? undefined}
            onChange={(id) => onContact(id ?? null)}
          />
        ) : (
          <Text size="sm" c="dimmed">
            {text.emailEditor.noContacts}
          </Text>
        )}
        <SegmentedControl
          size="xs"
          value={screen}
          onChange={(value) => setScreen(value as PreviewView)}
          aria-label={text.emailEditor.preview}
          data={[
            { value: 'desktop', label: text.emailEditor.desktop },
            { value: 'phone', label: text.emailEditor.phone },
            { value: 'dark', label: text.emailEditor.dark },
            { value: 'text', label: text.emailEditor.plain },
          ]}
        />
      </Group>
      {fault && (
        <Alert color="red" p="xs" title={text.emailEditor.fault(fault.line, fault.column)} role="alert">
          {fault.message} {text.emailEditor.faultIn(fault.field)} {shown && text.emailEditor.staleShown}
        </Alert>
      )}
      {error !== undefined && <Failed error={error} retry={retry} />}
      {shown && <Line label={text.emailEditor.subjectIs}>{shown.subject}</Line>}
      {shown?.preheader && <Line label={text.emailEditor.preheaderIs}>{shown.preheader}</Line>}
      <Rendered shown={shown} screen={screen} isBroken={fault !== undefined || error !== undefined} />
      {shown && <MissingVariables names={shown.missingVariables} />}
      {shown && <FindingList findings={shown.findings} />}
    </Stack>
  );
}

/** A line that email clients show in the list of emails. */
function Line({ label, children }: { label: string; children: string }) {
  return (
    <Text size="sm">
      <Text span c="dimmed" size="sm">
        {label}:{' '}
      </Text>
      {children}
    </Text>
  );
}

function Rendered({
  shown,
  screen,
  isBroken,
}: {
  shown: EmailPreview['shown'];
  screen: PreviewView;
  isBroken: boolean;
}) {
  if (!shown) return isBroken ? null : <PendingLines height={HEIGHT} />;
  if (screen !== 'text') {
    const isDark = screen === 'dark';
    return (
      <>
        <ScaledFrame
          html={isDark ? toDarkMode(shown.html) : shown.html}
          screen={SCREENS[screen]}
          height={HEIGHT}
          isWhole
          colorScheme={isDark && hasDarkRules(shown.html) ? 'dark' : 'light'}
        />
        {isDark && !hasDarkRules(shown.html) && (
          <Text size="sm" c="dimmed">
            {text.emailEditor.noDarkRules}
          </Text>
        )}
      </>
    );
  }
  return (
    <Paper withBorder>
      <Box
        component="pre"
        m={0}
        p="sm"
        fz="xs"
        mih={HEIGHT}
        style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {shown.text}
      </Box>
    </Paper>
  );
}

function MissingVariables({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <Alert color="yellow" p="xs" title={text.emailEditor.missing}>
      <Text size="sm">{text.emailEditor.missingWhy}</Text>
      <Group gap={6} mt={4}>
        {names.map((name) => (
          <Code key={name}>{name}</Code>
        ))}
      </Group>
    </Alert>
  );
}

function FindingList({ findings }: { findings: Findings }) {
  // Missing variables are listed above, one by one.
  const others = findings.filter(({ code }) => code !== 'missing_variables');
  if (others.length === 0) return null;
  return (
    <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label={text.emailEditor.findings}>
      {others.map((finding) => (
        <Group key={JSON.stringify(finding)} component="li" gap="xs" wrap="nowrap" align="flex-start">
          <Badge color={COLORS[finding.severity]} variant="light" radius="sm" tt="none" style={{ flex: 'none' }}>
            {text.emailEditor.severities[finding.severity]}
          </Badge>
          <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>
            {[describeFinding(finding), ...formatDetails(finding.details)].join('\n')}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}
