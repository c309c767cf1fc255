import { useQuery } from '@tanstack/react-query';

/**
 * Returns the address of the signed-in user; undefined if no user is signed in. The hook sends its own request, because
 * here a 401 is not an error. Elsewhere a 401 leads to the sign-in page.
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
