import { Modal, SimpleGrid, Text, UnstyledButton } from '@mantine/core';
import { text } from '../../text/text.ts';
import { wordOf } from '../../text/words.ts';
import type { Graph, InsertPoint, Step, StepType } from './graph/graph.ts';
import { stepOf } from './graph/graph.ts';
import { StepIcon } from './step-icon.tsx';

const t = text.automations;

const TYPES = Object.keys(t.stepNames) as StepType[];

/** Initial config of a new step. The API either accepts it or reports what is missing. */
const FIRST_CONFIGS: Record<StepType, () => Record<string, unknown>> = {
  SEND_EMAIL: () => ({}),
  SEND_SMS: () => ({}),
  DELAY: () => ({ amount: 1, unit: 'days' }),
  WAIT_FOR_EVENT: () => ({ eventName: 'order.paid', timeout: 86_400 }),
  CONDITION: () => ({
    logic: 'AND',
    groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
  }),
  SPLIT: () => ({
    branches: [
      { name: 'A', weight: 1 },
      { name: 'B', weight: 1 },
    ],
  }),
  WEBHOOK: () => ({ url: 'https://', method: 'POST', onFailure: 'CONTINUE' }),
  UPDATE_CONTACT: () => ({ updates: {} }),
  EXIT: () => ({}),
};

/** Returns a new step with a temporary id, until the API gives it an id. */
export function newStep(type: StepType): Step {
  return {
    id: `new-${crypto.randomUUID()}`,
    type,
    name: t.stepNames[type],
    config: FIRST_CONFIGS[type](),
    position: null,
  };
}

/** A menu to add a step at a position. */
export function AddStep({
  place,
  graph,
  onAdd,
  onClose,
}: {
  place: InsertPoint;
  graph: Graph;
  onAdd: (type: StepType) => void;
  onClose: () => void;
}) {
  const after = stepOf(graph, place?.after);
  const title = after ? t.addAfter(after.name, place?.branch ?? null) : graph.entry ? t.addFront : t.addFirst;
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': text.app.close }}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {TYPES.map((type) => (
          <UnstyledButton key={type} p="sm" onClick={() => onAdd(type)} style={CARD}>
            <StepIcon type={type} />
            <Text size="sm" fw={600} mt={4}>
              {t.stepNames[type]}
            </Text>
            <Text size="xs" c="dimmed">
              {wordOf('step', type)?.means}
            </Text>
          </UnstyledButton>
        ))}
      </SimpleGrid>
    </Modal>
  );
}

const CARD = { border: '1px solid var(--mantine-color-default-border)', borderRadius: 'var(--mantine-radius-md)' };
