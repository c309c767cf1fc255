import { useRouter } from '@tanstack/react-router';
import { type MouseEvent, useEffect } from 'react';
import { isPreviousUrl } from '../app/visited-urls.ts';

/** The list that a screen belongs to. */
export interface BackLink {
  to: string;
  label: string;
}

/** Returns the props of a link back to a list. If the user came from the list, its filters are kept. */
export function useBackLink({ to }: BackLink) {
  const router = useRouter();
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    const { history } = router;
    const leadsThere = isPreviousUrl(history, `/app${to}`) ?? history.canGoBack();
    if (leadsThere) history.back();
    else void router.navigate({ href: to });
  };
  return { href: `/app${to}`, onClick };
}

/** Sets the title of the browser tab. */
export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = `${title.slice(0, 80)} · Tidings`;
  }, [title]);
}
