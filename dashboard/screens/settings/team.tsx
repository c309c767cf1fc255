import { Badge, Group, Select, Stack, Table, Text, Title, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AnswerOf } from '../../api/client.ts';
import { answerOf, useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Answer } from '../../parts/answer.tsx';
import { Instant } from '../../parts/instant.tsx';
import { tellDone, tellFailure, tellUndoable } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { Invite } from './invite.tsx';
import { RemoveMember } from './remove-member.tsx';

type Team = AnswerOf<'getTeam'>;
export type Member = Team['members'][number];
type Role = Member['role'];
const words = text.settings.team;
export const TEAM_CHANGED = ['getTeam', 'listAuditLog'] as const;
export const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;

/** Who may work on the project, and who is invited. */
export function Team() {
  const team = useQuery(answerOf('getTeam'));
  return (
    <Stack gap="lg">
      <Text c="dimmed">{words.what}</Text>
      <Invite />
      <Answer of={team}>
        {({ members, invitations }) => (
          <>
            <Members members={members} />
            <Invitations invitations={invitations} />
          </>
        )}
      </Answer>
    </Stack>
  );
}

function Members({ members }: { members: Member[] }) {
  const [leaving, askToRemove] = useState<Member>();
  return (
    <section aria-label={words.people}>
      <Title order={2} size="h4" mb="xs">
        {words.people}
      </Title>
      <Table.ScrollContainer minWidth={340} type="native">
        <Table verticalSpacing="xs" aria-label={words.people}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.email}</Table.Th>
              <Table.Th>{words.role}</Table.Th>
              <Table.Th visibleFrom="sm">{words.joined}</Table.Th>
              <Table.Th aria-label={text.settings.remove} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {members.map((member) => (
              <Row key={member.userId} member={member} onRemove={() => askToRemove(member)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {leaving && <RemoveMember member={leaving} onClose={() => askToRemove(undefined)} />}
    </section>
  );
}

function Row({ member, onRemove }: { member: Member; onRemove: () => void }) {
  const { userId: mine, role: myRole } = useSession();
  const { userId, email, role, createdAt } = member;
  const change = useWrite('changeTeamRole', { changes: [...TEAM_CHANGED, 'getMe'] });
  const whyNot = role === 'OWNER' && myRole !== 'OWNER' ? words.onlyOwner : undefined;
  // Who makes themselves less cannot undo it.
  const whyNotChange = whyNot ?? (userId === mine ? words.notMyself : undefined);
  const become = (next: Role, onSuccess: () => void) =>
    change.mutate({ params: { userId }, body: { role: next } }, { onError: tellFailure, onSuccess });
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Group gap={6}>
          {email}
          {userId === mine && (
            <Badge variant="light" color="gray" tt="none" radius="sm">
              {words.you}
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td>
        <Tooltip label={whyNotChange ?? words.roleMeans[role]} multiline maw={260}>
          <Select
            aria-label={words.roleOf(email)}
            data={ROLES.filter((name) => name !== 'OWNER' || myRole === 'OWNER' || role === 'OWNER').map((value) => ({
              ...{ value, label: text.roles[value] },
            }))}
            value={role}
            onChange={(next) => {
              if (!next || next === role) return;
              const told = words.roleChanged(email, text.roles[next as Role]);
              become(next as Role, () => tellUndoable(told, () => become(role, () => {})));
            }}
            allowDeselect={false}
            disabled={whyNotChange !== undefined || change.isPending}
            w={130}
            size="xs"
          />
        </Tooltip>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Instant at={createdAt} />
      </Table.Td>
      <Table.Td ta="right">
        <ActionButton
          needs="team:manage"
          whyNot={whyNot}
          size="compact-sm"
          variant="light"
          color="red"
          onClick={onRemove}
        >
          {userId === mine ? words.leave : text.settings.remove}
        </ActionButton>
      </Table.Td>
    </Table.Tr>
  );
}

function Invitations({ invitations }: { invitations: Team['invitations'] }) {
  const withdraw = useWrite('withdrawInvitation', { changes: TEAM_CHANGED });
  return (
    <section aria-label={words.open}>
      <Title order={2} size="h4" mb="xs">
        {words.open}
      </Title>
      {invitations.length === 0 ? (
        <Text c="dimmed">{words.noneOpen}</Text>
      ) : (
        <Table.ScrollContainer minWidth={340} type="native">
          <Table verticalSpacing="xs" aria-label={words.open}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.email}</Table.Th>
                <Table.Th>{words.role}</Table.Th>
                <Table.Th visibleFrom="sm">{words.by}</Table.Th>
                <Table.Th>{words.expires}</Table.Th>
                <Table.Th aria-label={words.withdraw} />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {invitations.map(({ id, email, role, invitedBy, expiresAt }) => (
                <Table.Tr key={id}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{email}</Table.Td>
                  <Table.Td>{text.roles[role]}</Table.Td>
                  <Table.Td visibleFrom="sm">{invitedBy}</Table.Td>
                  <Table.Td>
                    <Instant at={expiresAt} />
                  </Table.Td>
                  <Table.Td ta="right">
                    <ActionButton
                      needs="team:manage"
                      size="compact-sm"
                      variant="light"
                      color="red"
                      onClick={() =>
                        withdraw.mutate(
                          { params: { id } },
                          { onError: tellFailure, onSuccess: () => tellDone(words.withdrawn(email)) },
                        )
                      }
                    >
                      {words.withdraw}
                    </ActionButton>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </section>
  );
}
