import { Alert, Code, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { text } from '../../text/text.ts';
import { AddForm, findFieldError } from './add-form.tsx';
import { type Member, ROLES, TEAM_CHANGED } from './member.ts';

const words = text.settings.team;

/** Invites a user and shows the link, which cannot be shown again. */
export function Invite() {
  const { role: myRole } = useSession();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Member['role']>('MEMBER');
  const invite = useWrite('inviteToTeam', { changes: TEAM_CHANGED });
  return (
    <div>
      <AddForm
        label={words.invite}
        needs="team:manage"
        action={words.inviteIt}
        write={invite}
        isReady={email.trim() !== ''}
        onSubmit={() => invite.mutate({ body: { email: email.trim(), role } }, { onSuccess: () => setEmail('') })}
      >
        <TextInput
          label={words.email}
          inputMode="email"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={findFieldError(invite.error, 'email')}
          flex="1 1 220px"
          autoComplete="off"
        />
        <Select
          label={words.role}
          description={words.roleMeans[role]}
          data={ROLES.filter((name) => name !== 'OWNER' || myRole === 'OWNER').map((value) => ({
            value,
            label: text.roles[value],
          }))}
          value={role}
          onChange={(next) => next && setRole(next as Member['role'])}
          allowDeselect={false}
          flex="1 1 220px"
        />
      </AddForm>
      {invite.data && <Link invited={invite.data} />}
    </div>
  );
}

function Link({ invited: { email, url, mailed } }: { invited: ResponseOf<'inviteToTeam'> }) {
  return (
    <Alert color="green" title={words.invited(email)} role="status">
      <Stack gap="xs">
        <Text size="sm">{words.linkOnce}</Text>
        <Group gap="xs" wrap="nowrap">
          <Code block flex={1} miw={0} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {url}
          </Code>
          <CopyButton value={url} label={words.copyLink} />
        </Group>
        <Text size="sm">{mailed ? words.mailed(email) : words.withoutEmail}</Text>
      </Stack>
    </Alert>
  );
}
