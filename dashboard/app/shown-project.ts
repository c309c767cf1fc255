import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import { getShownProject, type OperationId, setShownProject } from '../api/client.ts';
import { queryFor } from '../api/queries.ts';
import { text } from '../text/text.ts';
import { type Me, useSession } from './session.ts';

/** The channel on which the windows of a browser tell each other the project that they show. */
const CHANNEL = 'tidings.project';
const SWITCH: OperationId = 'switchProject';

/** Returns a function that shows the project to which this window has switched the session. */
export function useShowProject(): (me: Me) => void {
  const queries = useQueryClient();
  return (me) => {
    setShownProject(me.projectId);
    queries.setQueryData(queryFor('getMe').queryKey, me);
  };
}

/**
 * Follows the session to another project, in whichever window the user has switched it: opens Home without any data of
 * the previous project. Returns false until then, and the shell shows no screen, because a screen of the previous
 * project would act on the current one.
 */
export function useShownProject(): boolean {
  const { projectId, projectName } = useSession();
  const [shownId, setShownId] = useState(projectId);
  const navigate = useNavigate();
  const queries = useQueryClient();
  useEffect(() => {
    setShownProject(shownId);
    return () => setShownProject(undefined);
  }, [shownId]);
  const follow = useEffectEvent(async () => {
    const isSwitchedHere = getShownProject() === projectId || queries.isMutating({ mutationKey: [SWITCH] }) > 0;
    setShownProject(projectId);
    // `getMe` has already been read, and the sidebar would disappear without it.
    void queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'getMe' });
    await navigate({ to: '/' });
    setShownId(projectId);
    if (isSwitchedHere) return;
    const { notifySuccess } = await import('../parts/notifications.tsx');
    notifySuccess(text.app.switchedElsewhere(projectName));
  });
  useEffect(() => {
    if (projectId !== shownId) void follow();
  }, [projectId, shownId]);
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = ({ data }) => {
      if (data !== shownId) void queries.invalidateQueries({ queryKey: queryFor('getMe').queryKey });
    };
    channel.postMessage(shownId);
    return () => channel.close();
  }, [shownId, queries]);
  return projectId === shownId;
}
