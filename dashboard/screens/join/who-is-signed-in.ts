import { useQuery } from '@tanstack/react-query';

/**
 * Returns the address of the signed-in user; undefined without one. It uses a request of its own: elsewhere a
 * 401 leads to the sign-in page, and here it is not an error.
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
