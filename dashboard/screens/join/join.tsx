import { Alert, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { EntryFrame } from '../../parts/entry-frame.tsx';
import { Failed } from '../../parts/failed.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { useWhoIsSignedIn } from './who-is-signed-in.ts';

type Invitation = ResponseOf<'getInvitation'>;
const words = text.join;

/**
 * The page of an invitation link. A signed-in user can join directly. Every visitor can join with the invited address
 * and its password, or a new password if the address has no account.
 */
export function Join() {
  const { hash: token } = useLocation();
  const invitation = useQuery({
    ...queryFor('getInvitation', { body: { token } }),
    enabled: token !== '',
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const title = invitation.data ? words.title(invitation.data.projectName) : words.plainTitle;
  return (
    <EntryFrame title={title}>
      {token === '' ? (
        <Stack>
          <Alert color="yellow">{words.noToken}</Alert>
          <Button component={Link} to="/sign-in" variant="default">
            {text.signIn.submit}
          </Button>
        </Stack>
      ) : (
        <QueryView of={invitation}>{(loaded) => <OpenInvitation invitation={loaded} token={token} />}</QueryView>
      )}
    </EntryFrame>
  );
}

function OpenInvitation({ invitation, token }: { invitation: Invitation; token: string }) {
  const signedIn = useWhoIsSignedIn();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const openHome = () => {
    queries.clear();
    void navigate({ to: '/', replace: true });
  };
  return (
    <Stack>
      <Text style={{ overflowWrap: 'anywhere' }}>{words.by(invitation.invitedBy, text.roles[invitation.role])}</Text>
      {signedIn && (
        <>
          <JoinSignedIn email={signedIn} token={token} onJoined={openHome} />
          <Divider label={words.otherwise(invitation.email)} />
        </>
      )}
      <JoinWithPassword email={invitation.email} token={token} onJoined={openHome} />
    </Stack>
  );
}

function JoinSignedIn({ email, token, onJoined }: { email: string; token: string; onJoined: () => void }) {
  const join = useWrite('joinByInvitation', { changes: [] });
  return (
    <Stack>
      <Text size="sm">{words.signedIn(email)}</Text>
      {join.error && <Failed error={join.error} />}
      <Button loading={join.isPending} onClick={() => join.mutate({ body: { token } }, { onSuccess: onJoined })}>
        {words.as(email)}
      </Button>
    </Stack>
  );
}

function JoinWithPassword({ email, token, onJoined }: { email: string; token: string; onJoined: () => void }) {
  const [password, setPassword] = useState('');
  const accept = useWrite('acceptInvitation', { changes: [] });
  const fault = accept.error?.fields.find(({ field }) => field === 'password')?.message;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate({ body: { token, password } }, { onSuccess: onJoined });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput label={text.signIn.email} value={email} readOnly autoComplete="username" />
        <PasswordInput
          label={words.password}
          description={words.passwordHelp}
          autoComplete="new-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fault}
        />
        {accept.error && !fault && <Failed error={accept.error} />}
        <Button type="submit" loading={accept.isPending}>
          {words.submit}
        </Button>
      </Stack>
    </form>
  );
}
