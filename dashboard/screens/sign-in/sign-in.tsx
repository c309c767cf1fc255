import { Alert, Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { queryFor, useWrite } from '../../api/queries.ts';
import { EntryFrame } from '../../parts/entry-frame.tsx';
import { Failed } from '../../parts/failed.tsx';
import { text } from '../../text/text.ts';

const PASSWORD_MIN = 8;

/** The sign-in page; if the installation permits it, also for new accounts. */
export function SignIn() {
  const search = useSearch({ from: '/sign-in' });
  const signUp = useQuery(queryFor('getSignUp'));
  const isNew = search.new === true && signUp.data?.open !== false;
  const title = isNew ? text.signIn.signUpTitle : text.signIn.title;
  const foot = (
    <>
      {signUp.data?.open === false && text.signIn.closed}
      {signUp.data?.open && (
        <>
          {isNew ? text.signIn.haveAccount : text.signIn.noAccount}{' '}
          <Anchor
            inherit
            underline="always"
            renderRoot={(props) => (
              <Link {...props} to="/sign-in" search={isNew ? { back: search.back } : { ...search, new: true }} />
            )}
          >
            {isNew ? text.signIn.submit : text.signIn.signUp}
          </Anchor>
        </>
      )}
    </>
  );
  return (
    <EntryFrame title={title} subtitle={isNew ? text.signIn.signUpHelp : undefined} foot={foot}>
      {search.link === 'ended' && (
        <Alert color="yellow" title={text.signIn.linkEnded}>
          {text.signIn.afterLinkEnded}
        </Alert>
      )}
      {isNew ? <SignUpForm /> : <LogInForm />}
    </EntryFrame>
  );
}

/**
 * Returns a function for after sign-in. It clears the cache, because the data may be of another user, and opens the
 * page in `back` or Home.
 */
function useEnterApp(): () => Promise<void> {
  const { back } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const queries = useQueryClient();
  return async () => {
    queries.clear();
    if (back) await navigate({ href: back });
    else await navigate({ to: '/' });
  };
}

function LogInForm() {
  const enter = useEnterApp();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const logIn = useWrite('logIn', { changes: [] });
  return (
    <Form
      error={logIn.error}
      isPending={logIn.isPending}
      action={text.signIn.submit}
      onSubmit={() => logIn.mutate({ body: { email, password } }, { onSuccess: enter })}
    >
      <EmailInput value={email} onChange={setEmail} />
      <PasswordInput
        label={text.signIn.password}
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
    </Form>
  );
}

function SignUpForm() {
  const enter = useEnterApp();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [projectName, setProjectName] = useState('');
  const signUp = useWrite('signUp', { changes: [] });
  return (
    <Form
      error={signUp.error}
      isPending={signUp.isPending}
      action={text.signIn.signUp}
      onSubmit={() => signUp.mutate({ body: { email, password, projectName } }, { onSuccess: enter })}
    >
      <EmailInput value={email} onChange={setEmail} />
      <PasswordInput
        label={text.signIn.password}
        description={text.signIn.passwordRule}
        autoComplete="new-password"
        required
        minLength={PASSWORD_MIN}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <TextInput
        label={text.signIn.projectName}
        description={text.signIn.projectHelp}
        required
        maxLength={100}
        value={projectName}
        onChange={(event) => setProjectName(event.currentTarget.value)}
      />
    </Form>
  );
}

function EmailInput({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <TextInput
      label={text.signIn.email}
      type="email"
      autoComplete="username"
      required
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function Form({
  error,
  isPending,
  action,
  onSubmit,
  children,
}: {
  error: unknown;
  isPending: boolean;
  action: string;
  onSubmit: () => void;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {error !== null && <Failed error={error} />}
        {children}
        <Button type="submit" loading={isPending}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}
