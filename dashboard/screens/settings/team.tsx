import { Group, Select, Stack, Text, Title, Tooltip } from '@mantine/core';
import { IconLogout, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryFor, useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Breakable } from '../../parts/breakable.tsx';
import { Instant } from '../../parts/instant.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess, notifyWithUndo, runAfterWrite } from '../../parts/notifications.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { RequirePermission } from '../../parts/require-permission.tsx';
import { type Column, RowTable } from '../../parts/row-table.tsx';
import { Tag } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { Invite } from './invite.tsx';
import { type Invitation, type Member, ROLES, type Role, TEAM_CHANGED } from './member.ts';
import { RemoveMember } from './remove-member.tsx';

const words = text.settings.team;

/** The members and invitations for users who manage the team. Other users can only leave the project. */
export function Team() {
  const { can } = useSession();
  return (
    <Stack gap="lg">
      <RequirePermission permission="team:manage">
        <ManagedTeam />
      </RequirePermission>
      {!can('team:manage') && <LeaveProject />}
    </Stack>
  );
}

function LeaveProject() {
  const { userId, email } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <ActionButton
        variant="default"
        leftSection={<IconLogout size={16} />}
        onClick={() => setIsOpen(true)}
        style={{ alignSelf: 'flex-start' }}
      >
        {words.leave}
      </ActionButton>
      {isOpen && <RemoveMember member={{ userId, email }} onClose={() => setIsOpen(false)} />}
    </>
  );
}

/** Members of the project, and open invitations. */
function ManagedTeam() {
  const team = useQuery(queryFor('getTeam'));
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed">
        {words.what}
      </Text>
      <Invite />
      <QueryView of={team}>
        {({ members, invitations }) => (
          <>
            <Members members={members} />
            <Invitations invitations={invitations} />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

function Members({ members }: { members: Member[] }) {
  const { userId: mine } = useSession();
  const [memberToRemove, setMemberToRemove] = useState<Member>();
  const columns: Column<Member>[] = [
    { name: words.email, cell: ({ userId, email }) => <MemberAddress email={email} isMe={userId === mine} /> },
    { name: words.role, cell: (member) => <RoleSelect member={member} /> },
    { name: words.joined, cell: ({ createdAt }) => <Instant at={createdAt} />, wideOnly: true },
    {
      name: text.settings.remove,
      hidesName: true,
      align: 'right',
      isWhole: true,
      cell: (member) => <Remove member={member} onRemove={() => setMemberToRemove(member)} />,
    },
  ];
  return (
    <section aria-label={words.people}>
      <Title order={2} size="h4" mb="xs">
        {words.people}
      </Title>
      <RowTable rows={members} columns={columns} rowKey={({ userId }) => userId} caption={words.people} />
      {memberToRemove && <RemoveMember member={memberToRemove} onClose={() => setMemberToRemove(undefined)} />}
    </section>
  );
}

function MemberAddress({ email, isMe }: { email: string; isMe: boolean }) {
  return (
    <Group gap={6}>
      <span>
        <Breakable text={email} />
      </span>
      {isMe && <Tag>{words.you}</Tag>}
    </Group>
  );
}

/** Returns the reason if this user must not change or remove the member because of the member's role. */
function useOwnerRule({ role }: Member): string | undefined {
  const { role: myRole } = useSession();
  return role === 'OWNER' && myRole !== 'OWNER' ? words.onlyOwner : undefined;
}

function RoleSelect({ member }: { member: Member }) {
  const { userId: mine, role: myRole } = useSession();
  const { userId, email, role } = member;
  const change = useWrite('changeTeamRole', { changes: [...TEAM_CHANGED, 'getMe'] });
  // Users who lower their own role cannot undo it.
  const whyNot = useOwnerRule(member) ?? (userId === mine ? words.notMyself : undefined);
  const changeRole = (next: Role) => change.mutateAsync({ params: { userId }, body: { role: next } });
  return (
    <Tooltip label={whyNot ?? words.roleMeans[role]} multiline maw={260}>
      <Select
        aria-label={words.roleOf(email)}
        data={ROLES.filter((name) => name !== 'OWNER' || myRole === 'OWNER' || role === 'OWNER').map((value) => ({
          value,
          label: text.roles[value],
        }))}
        value={role}
        onChange={(next) => {
          if (!next || next === role) return;
          const message = words.roleChanged(email, text.roles[next as Role]);
          runAfterWrite(changeRole(next as Role), () => notifyWithUndo(message, () => changeRole(role)));
        }}
        allowDeselect={false}
        disabled={whyNot !== undefined || change.isPending}
        w={{ base: 104, sm: 130 }}
        size="xs"
      />
    </Tooltip>
  );
}

function Remove({ member, onRemove }: { member: Member; onRemove: () => void }) {
  const isMe = useSession().userId === member.userId;
  return (
    <MoreMenu of={member.email}>
      <MoreItem
        icon={isMe ? IconLogout : IconTrash}
        needs="team:manage"
        whyNot={useOwnerRule(member)}
        isDestructive
        onClick={onRemove}
      >
        {isMe ? words.leave : text.settings.remove}
      </MoreItem>
    </MoreMenu>
  );
}

const INVITED: Column<Invitation>[] = [
  { name: words.email, cell: ({ email }) => <Breakable text={email} /> },
  { name: words.role, cell: ({ role }) => text.roles[role], isWhole: true },
  { name: words.by, cell: ({ invitedBy }) => invitedBy, wideOnly: true },
  { name: words.expires, cell: ({ expiresAt }) => <Instant at={expiresAt} /> },
  {
    name: words.withdraw,
    hidesName: true,
    align: 'right',
    isWhole: true,
    cell: (one) => <Withdraw invitation={one} />,
  },
];

function Invitations({ invitations }: { invitations: Invitation[] }) {
  return (
    <section aria-label={words.open}>
      <Title order={2} size="h4" mb="xs">
        {words.open}
      </Title>
      {invitations.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noneOpen}
        </Text>
      ) : (
        <RowTable rows={invitations} columns={INVITED} rowKey={({ id }) => id} caption={words.open} />
      )}
    </section>
  );
}

function Withdraw({ invitation: { id, email } }: { invitation: Invitation }) {
  const withdraw = useWrite('withdrawInvitation', { changes: TEAM_CHANGED });
  return (
    <MoreMenu of={email}>
      <MoreItem
        icon={IconTrash}
        needs="team:manage"
        isPending={withdraw.isPending}
        isDestructive
        onClick={() =>
          runAfterWrite(withdraw.mutateAsync({ params: { id } }), () => notifySuccess(words.withdrawn(email)))
        }
      >
        {words.withdraw}
      </MoreItem>
    </MoreMenu>
  );
}
