import { Alert, Button, List, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMissingPermissionText } from '../../../parts/action-button.tsx';
import { JsonView } from '../../../parts/json-view.tsx';
import { text } from '../../../text/text.ts';
import type { Editor } from '../editor/use-editor.ts';
import { changeConfig, withoutFields } from '../forms/form.ts';
import type { StepFault } from '../graph/faults.ts';
import {
  type AnyStepConfig,
  changeStep,
  connect,
  type InsertPoint,
  listTransitions,
  type Step,
} from '../graph/graph.ts';
import { STEP_TYPES } from '../step-types.tsx';

const t = text.automations;

/** Settings of a step and its transitions. */
export function StepSettings({
  step,
  eventName,
  editor,
  faults,
  onAdd,
}: {
  step: Step;
  /** The event that starts the automation; empty if none does. */
  eventName: string;
  editor: Editor;
  faults: readonly StepFault[];
  /** Adds a step at a branch that leads to no step. */
  onAdd: (insertPoint: InsertPoint) => void;
}) {
  const readOnly = useMissingPermissionText('workflows:edit') !== undefined;
  const { Form } = STEP_TYPES[step.type];
  const write = (config: AnyStepConfig) =>
    editor.change((graph) => changeStep(graph, step.id, { config }), `config ${step.id}`);
  return (
    <Stack gap="md">
      {faults.length > 0 && (
        <Alert color="red" p="xs" role="status">
          <List size="sm">
            {faults.map(({ field, message }) => (
              <List.Item key={`${field} ${message}`}>{message}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      <TextInput
        label={t.stepName}
        value={step.name}
        maxLength={200}
        disabled={readOnly}
        onChange={({ currentTarget: { value } }) =>
          editor.change((graph) => changeStep(graph, step.id, { name: value }), `name ${step.id}`)
        }
        error={faults.find(({ field }) => field === 'name')?.message}
      />
      <Form
        key={`${step.id} ${editor.epoch}`}
        config={step.config}
        set={(changes) => write(changeConfig(step.config, changes))}
        replace={write}
        faultAt={(...fields) => findFieldFault(faults, fields)}
        faults={faults}
        readOnly={readOnly}
        eventName={eventName}
      />
      <OtherFields step={step} />
      <NextStepSelects step={step} editor={editor} onAdd={onAdd} readOnly={readOnly} />
    </Stack>
  );
}

/** Settings without an input in the form; they stay unchanged. */
function OtherFields({ step: { type, config } }: { step: Step }) {
  const { formFields } = STEP_TYPES[type];
  const otherFields = formFields === 'all' ? {} : withoutFields(config, formFields);
  if (Object.keys(otherFields).length === 0) return null;
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {t.unshown}
      </Text>
      <JsonView value={otherFields} maxHeight={160} />
    </div>
  );
}

/** Returns the error of a field, or of a part of it. */
function findFieldFault(faults: readonly StepFault[], fields: string[]): string | undefined {
  return faults.find(({ field }) => fields.some((name) => field === name || field?.startsWith(`${name}.`)))?.message;
}

/** Selects the target of each branch, so that the keyboard suffices. */
function NextStepSelects({
  step,
  editor: { graph, change },
  onAdd,
  readOnly,
}: {
  step: Step;
  editor: Editor;
  onAdd: (insertPoint: InsertPoint) => void;
  readOnly: boolean;
}) {
  const others = graph.steps.map(({ id, name }) => ({ value: id, label: name }));
  return listTransitions(graph, step).map(({ branch, to }) => (
    <Stack key={branch ?? ''} gap={4} align="flex-start">
      <Select
        w="100%"
        label={branch === null ? t.leadsTo : t.byBranch(branch)}
        placeholder={t.nowhere}
        data={others}
        value={to}
        searchable
        clearable
        disabled={readOnly}
        onChange={(next) => change((graph) => connect(graph, { from: step.id, branch, to: next }))}
      />
      {!readOnly && (
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<IconPlus size={12} />}
          aria-label={t.addAfter(step.name, branch)}
          onClick={() => onAdd({ after: step.id, branch })}
        >
          {t.add}
        </Button>
      )}
    </Stack>
  ));
}
