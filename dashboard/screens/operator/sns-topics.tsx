import { Stack, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { Instant } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';
import { FactCard } from './fact.tsx';

const words = text.operator;

/** Shows the state of the subscription to each SNS topic of Amazon SES. Renders nothing if no topic is configured. */
export function SnsTopics({ topics }: { topics: ResponseOf<'listProviderAnswers'>['snsTopics'] }) {
  if (topics.length === 0) return null;
  const isRefused = topics.some(({ state }) => state === 'refused');
  return (
    <FactCard title={words.snsTopics} subtitle={words.snsTopicsMean} state={isRefused ? 'attention' : 'healthy'}>
      <Stack gap={4} className="card-block">
        {topics.map(({ topic, state, since }) => (
          <Text key={topic} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {topic}: {words.snsStates[state]}{' '}
            {since && (
              <Text span c="dimmed" size="sm">
                <Instant at={since} />
              </Text>
            )}
          </Text>
        ))}
      </Stack>
    </FactCard>
  );
}
