import { Alert, Anchor, Button, Group, Stack, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Conflict } from '../../../parts/record-edit/conflict.tsx';
import { text } from '../../../text/text.ts';
import type { GraphFaults } from '../graph/faults.ts';
import { findStep, type Graph } from '../graph/graph.ts';
import type { MergeUnit } from '../graph/merge.ts';
import { summarizeStep } from '../step-types.tsx';
import type { Editor } from './use-editor.ts';

const t = text.automations;

/** Notices that matter before further edits: a conflict, a draft, problems. */
export function Notices({
  editor,
  faults,
  graph,
  refused,
  onStep,
}: {
  editor: Editor;
  faults: GraphFaults;
  graph: Graph;
  refused: boolean;
  onStep: (stepId: string) => void;
}) {
  return (
    <Stack gap="xs" mb="sm">
      {editor.conflict && (
        <Conflict<Record<string, MergeUnit | null>>
          title={t.conflict}
          edit={{
            differences: editor.differences.map(({ id, name: _, ...sides }) => ({ name: id, ...sides })),
            settle: editor.settle,
          }}
          labels={Object.fromEntries(editor.differences.map(({ id, name }) => [id, name]))}
          show={(_id, unit) => unitAsText(unit, graph)}
        >
          <Button size="xs" variant="subtle" onClick={editor.discard}>
            {t.takeTheirs}
          </Button>
          <Button size="xs" variant="subtle" onClick={editor.keepMine}>
            {t.keepMine}
          </Button>
        </Conflict>
      )}
      {editor.fromDraft && !editor.conflict && (
        <Alert color="blue" p="xs">
          <Group justify="space-between">
            <Text size="sm">{t.draftKept}</Text>
            <Button size="compact-sm" variant="default" onClick={editor.discard}>
              {t.discard}
            </Button>
          </Group>
        </Alert>
      )}
      {!editor.isDraftStored && (
        <Alert color="yellow" p="xs">
          {t.draftNotKept}
        </Alert>
      )}
      <FaultList faults={faults} graph={graph} refused={refused} onStep={onStep} />
    </Stack>
  );
}

/** Shows the number of issues in one line, with links to their steps. Each step shows its own messages. */
function FaultList({
  faults: { steps, rest },
  graph,
  refused,
  onStep,
}: {
  faults: GraphFaults;
  graph: Graph;
  refused: boolean;
  onStep: (stepId: string) => void;
}) {
  const count = [...steps.values()].reduce((sum, all) => sum + all.length, rest.length);
  if (count === 0) return null;
  return (
    <Alert
      color={refused ? 'red' : 'yellow'}
      p="xs"
      role="status"
      icon={<IconAlertTriangle size={16} stroke={1.75} aria-hidden />}
    >
      <Group gap="xs" mah={96} style={{ overflowY: 'auto' }}>
        <Text size="sm" fw={600}>
          {refused ? t.refused : t.faults(count)}
        </Text>
        {rest.map((message) => (
          <Text key={message} size="sm">
            {message}
          </Text>
        ))}
        {[...steps].map(([id, all]) => (
          <Tooltip key={id} label={all.map(({ message }) => message).join('\n')} multiline maw={320}>
            <Anchor component="button" type="button" size="sm" onClick={() => onStep(id)}>
              {findStep(graph, id)?.name ?? id}
              {all.length > 1 && ` (${all.length})`}
            </Anchor>
          </Tooltip>
        ))}
      </Group>
    </Alert>
  );
}

/** Formats a step and its next steps as text, to compare two versions of the step. */
function unitAsText(unit: MergeUnit | null | undefined, graph: Graph): string {
  if (!unit) return t.removedStep;
  const nextSteps = unit.transitions.map(({ branch, to }) =>
    t.leadsOn(branch, findStep(graph, to)?.name ?? t.otherStep),
  );
  return [unit.step.name, summarizeStep(unit.step), ...nextSteps].filter(Boolean).join('\n');
}
