import { useQuery } from '@tanstack/react-query';

/**
 * The address of who is signed in; undefined where nobody is. By a request of its own: an answer of 401 elsewhere leads
 * to the sign-in page, and here it is no fault.
 */
export function useWhoIsSignedIn(): string | undefined {
  const { data } = useQuery({
    queryKey: ['who-is-signed-in'],
    queryFn: async ({ signal }): Promise<string | null> => {
      const response = await fetch('/auth/me', { credentials: 'same-origin', signal });
      const me = (await response.json()) as { user?: { email: string } };
      return me.user?.email ?? null;
    },
    retry: false,
  });
  return data ?? undefined;
}
