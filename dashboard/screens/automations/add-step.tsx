import { Modal, SimpleGrid, Text, UnstyledButton } from '@mantine/core';
import { useReturnFocus } from '../../parts/use-return-focus.ts';
import { text } from '../../text/text.ts';
import { findWord, getLabel } from '../../text/words.ts';
import type { Graph, InsertPoint, StepType } from './graph/graph.ts';
import { findStep } from './graph/graph.ts';
import { StepIcon } from './step-icon.tsx';
import { STEP_TYPES } from './step-types.tsx';

const t = text.automations;

const TYPES = Object.keys(STEP_TYPES) as StepType[];

/** A menu to add a step at a position. */
export function AddStep({
  insertPoint,
  graph,
  onAdd,
  onClose,
}: {
  insertPoint: InsertPoint;
  graph: Graph;
  onAdd: (type: StepType) => void;
  onClose: () => void;
}) {
  useReturnFocus();
  const after = findStep(graph, insertPoint?.after);
  const title = after ? t.addAfter(after.name, insertPoint?.branch ?? null) : graph.entry ? t.addFront : t.addFirst;
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': text.app.close }}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {TYPES.map((type) => (
          <UnstyledButton key={type} p="sm" onClick={() => onAdd(type)} style={CARD}>
            <StepIcon type={type} />
            <Text size="sm" fw={600} mt={4}>
              {getLabel('step', type)}
            </Text>
            <Text size="xs" c="dimmed">
              {findWord('step', type)?.means}
            </Text>
          </UnstyledButton>
        ))}
      </SimpleGrid>
    </Modal>
  );
}

const CARD = { border: '1px solid var(--mantine-color-default-border)', borderRadius: 'var(--mantine-radius-md)' };
