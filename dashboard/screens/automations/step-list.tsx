import { Button, Group, Paper, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { text } from '../../text/text.ts';
import type { CanvasActions } from './canvas/actions.ts';
import type { StepCounts } from './canvas/drawing.ts';
import type { StepFault } from './graph/faults.ts';
import {
  type Graph,
  type InsertPoint,
  type OrderedStep,
  orderSteps,
  type Step,
  stepOf,
  transitionsOf,
} from './graph/graph.ts';
import type { HighlightedPath } from './graph/path.ts';
import { StepCountLinks } from './step-counts.tsx';
import { StepIcon } from './step-icon.tsx';
import { summarizeStep } from './step-types.tsx';

const t = text.automations;
/** Deeper branches are not indented further, because a phone is narrow. */
const DEPTH_MAX = 4;

/** The steps as a list in the order of the run, for phones and for users who prefer text. */
export function StepList({
  graph,
  startLabel,
  selected,
  stats,
  faults,
  templates,
  highlighted,
  readOnly,
  onSelect,
  onAdd,
  onCount,
  countHref,
}: Pick<CanvasActions, 'onCount' | 'countHref'> & {
  graph: Graph;
  startLabel: string;
  selected: string | undefined;
  stats: Map<string, StepCounts>;
  faults: ReadonlyMap<string, readonly StepFault[]>;
  templates: Map<string, string>;
  highlighted: HighlightedPath | undefined;
  readOnly: boolean;
  onSelect: (stepId: string) => void;
  onAdd: (place: InsertPoint) => void;
}) {
  const order = orderSteps(graph);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text size="sm" c="dimmed">
          {startLabel}
        </Text>
        {!readOnly && <Add label={graph.entry ? t.addFront : t.addFirst} onClick={() => onAdd(null)} />}
      </Group>
      <Stack component="ol" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
        {order.map(({ step, depth, by }) => (
          <li key={step.id} style={{ marginLeft: 16 * Math.min(depth, DEPTH_MAX) }}>
            {by && (
              <Text size="xs" c="dimmed" mb={2}>
                {t.indent(by)}
              </Text>
            )}
            <Row
              step={step}
              line={summarizeStep(step, templates)}
              counts={stats.get(step.id)}
              faults={faults.get(step.id) ?? []}
              isSelected={selected === step.id}
              isDimmed={highlighted !== undefined && !highlighted.steps.has(step.id)}
              onSelect={onSelect}
              onCount={onCount}
              countHref={countHref}
            />
            <LeadsElsewhere step={step} graph={graph} order={order} />
            {!readOnly &&
              transitionsOf(graph, step)
                .filter(({ to }) => to === null)
                .map(({ branch }) => (
                  <Add
                    key={branch ?? ''}
                    label={t.addAfter(step.name, branch)}
                    onClick={() => onAdd({ after: step.id, branch })}
                  />
                ))}
          </li>
        ))}
      </Stack>
    </Stack>
  );
}

/** Shows transitions to steps that are elsewhere in the list, because another branch leads to them first. */
function LeadsElsewhere({ step, graph, order }: { step: Step; graph: Graph; order: OrderedStep[] }) {
  const ways = transitionsOf(graph, step).filter(
    ({ to, branch }) =>
      to !== null && !order.some((one) => one.step.id === to && one.from === step.id && one.by === branch),
  );
  return ways.map(({ branch, to }) => (
    <Text key={branch ?? ''} size="xs" c="dimmed" mt={2}>
      {t.leadsOn(branch, stepOf(graph, to)?.name ?? '')}
    </Text>
  ));
}

function Row(
  p: Pick<CanvasActions, 'onCount' | 'countHref'> & {
    step: Step;
    line: string;
    counts: StepCounts | undefined;
    faults: readonly StepFault[];
    isSelected: boolean;
    isDimmed: boolean;
    onSelect: (stepId: string) => void;
  },
) {
  const { step, counts } = p;
  return (
    <Paper
      withBorder
      p="xs"
      opacity={p.isDimmed ? 0.5 : 1}
      style={p.isSelected ? { borderColor: 'var(--mantine-primary-color-filled)' } : undefined}
    >
      <UnstyledButton w="100%" onClick={() => p.onSelect(step.id)} aria-pressed={p.isSelected}>
        <Group wrap="nowrap" gap="sm" align="flex-start">
          <StepIcon type={step.type} />
          <div style={{ minWidth: 0, flex: 1 }}>
            <Text size="sm" fw={600}>
              {step.name}
            </Text>
            <Text size="xs" c="dimmed" lineClamp={2}>
              {p.line}
            </Text>
            {p.faults.map(({ field, message }) => (
              <Text key={`${field} ${message}`} size="xs" c="red">
                {message}
              </Text>
            ))}
          </div>
        </Group>
      </UnstyledButton>
      {/* Keeps its line while the counts load, so that the steps below do not move. */}
      <Group gap="md" mt={6} mih={18} fz="xs" c="dimmed">
        {counts && (
          <StepCountLinks
            counts={counts}
            hrefOf={(count) => p.countHref(step.id, count)}
            onCount={(count) => p.onCount(step.id, count)}
          />
        )}
      </Group>
    </Paper>
  );
}

function Add({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      mt={4}
      leftSection={<IconPlus size={12} />}
      onClick={onClick}
      // The name of a step can be longer than a line.
      styles={{ root: { height: 'auto' }, label: { whiteSpace: 'normal', textAlign: 'start', lineHeight: '18px' } }}
    >
      {label}
    </Button>
  );
}
