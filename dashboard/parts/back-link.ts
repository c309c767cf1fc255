import { useRouter } from '@tanstack/react-router';
import { type MouseEvent, useEffect } from 'react';
import { isPreviousPath } from '../app/visited-paths.ts';

/** The list that a screen belongs to. */
export interface BackLink {
  to: string;
  label: string;
}

/**
 * Returns the `href` and `onClick` of a link back to a list. If the user came from the list, the link goes back in the
 * history, which keeps the filters of the list. So does a link after a reload, when the previous path is unknown.
 */
export function useBackLink({ to }: BackLink) {
  const router = useRouter();
  const onClick = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    const { history } = router;
    const isPrevious = isPreviousPath(history, `/app${to}`) ?? history.canGoBack();
    if (isPrevious) history.back();
    else void router.navigate({ href: to });
  };
  return { href: `/app${to}`, onClick };
}

/** Sets the title of the browser tab: the first 80 characters of `title`, and the name of the app. */
export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = `${title.slice(0, 80)} · Tidings`;
  }, [title]);
}
