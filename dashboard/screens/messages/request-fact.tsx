import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Fact } from '../../parts/facts.tsx';
import { text } from '../../text/text.ts';

/** More messages than this rarely come from one request. */
const MESSAGES_MAX = 100;
/** The log entry is written shortly after the response, so an empty result is read again a few times. */
const POLL_MS = 2_000;
const READS_MAX = 5;

/** The API request that created an email, an SMS or an execution. Shows `otherwise` if the log does not contain it. */
export function RequestFact({ of: recordId, otherwise }: { of: string; otherwise?: string }) {
  const { data } = useQuery({
    ...queryFor('listRequests', { query: { made: recordId, limit: MESSAGES_MAX } }),
    refetchInterval: ({ state }) =>
      state.data?.data.length === 0 && state.dataUpdateCount < READS_MAX ? POLL_MS : false,
  });
  const request = data?.data.at(-1);
  if (request) {
    return (
      <Fact name={text.messages.request}>
        <AppLink to={`/developers/requests/${request.id}`}>
          {request.method} {request.route}
        </AppLink>
      </Fact>
    );
  }
  return data && otherwise !== undefined ? <Fact name={text.messages.request}>{otherwise}</Fact> : null;
}
