import { Button, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlayerStop } from '@tabler/icons-react';
import { useWrite } from '../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../parts/action-button.tsx';
import { useAsCodeItem } from '../../parts/as-code.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifyFailure, notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import type { Execution, Workflow } from './execution-type.ts';

const CHANGES = ['getExecution', 'listExecutions', 'listContactsAtStep', 'getWorkflowStats', 'listAttention'] as const;
const NEEDS = 'workflows:edit';

/** Actions on an execution: skip a wait, retry, cancel. */
export function ExecutionActions({ execution, workflow }: { execution: Execution; workflow: Workflow | undefined }) {
  const { status } = execution;
  const params = { id: execution.workflowId, executionId: execution.id };
  const retry = useWrite('retryExecution', { changes: CHANGES });
  const retryIt = () =>
    retry.mutate({ params }, { onSuccess: () => notifySuccess(text.executions.retried), onError: notifyFailure });
  return (
    <>
      {status === 'FAILED' && (
        <ActionButton needs={NEEDS} onClick={retryIt} loading={retry.isPending}>
          {text.executions.retry}
        </ActionButton>
      )}
      {status === 'WAITING' && <Advance execution={execution} workflow={workflow} />}
      <ExecutionMenu execution={execution} />
    </>
  );
}

function Advance({ execution, workflow }: { execution: Execution; workflow: Workflow | undefined }) {
  const { currentStepId, workflowId, id: executionId } = execution;
  const advance = useWrite('advanceExecution', { changes: CHANGES });
  const step = workflow?.steps.find(({ id }) => id === currentStepId);
  const move = (branch?: string) =>
    runAfterWrite(
      advance.mutateAsync({ params: { id: workflowId, executionId }, body: branch ? { branch } : {} }),
      () => notifySuccess(text.executions.advanced),
    );
  const isDenied = useMissingPermissionText(NEEDS) !== undefined;
  if (step?.type !== 'WAIT_FOR_EVENT' || isDenied) {
    return (
      <ActionButton needs={NEEDS} variant="default" loading={advance.isPending} onClick={() => move()}>
        {text.executions.advance}
      </ActionButton>
    );
  }
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" loading={advance.isPending}>
          {text.executions.advance}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => move('event')}>{text.executions.advanceEvent}</Menu.Item>
        <Menu.Item onClick={() => move('timeout')}>{text.executions.advanceTimeout}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Rare actions on an execution: the API request that returns it, and cancel. */
function ExecutionMenu({ execution: { id: executionId, workflowId, status, contactEmail } }: { execution: Execution }) {
  const code = useAsCodeItem({ method: 'GET', path: `/v1/workflows/${workflowId}/executions/${executionId}` });
  const [isConfirmOpen, confirmDialog] = useDisclosure();
  const cancel = useWrite('cancelExecution', { changes: CHANGES });
  const isActive = status === 'RUNNING' || status === 'WAITING';
  const confirm = () =>
    cancel.mutate(
      { params: { id: workflowId, executionId } },
      {
        onSuccess: () => {
          confirmDialog.close();
          notifySuccess(text.executions.cancelled);
        },
      },
    );
  return (
    <>
      <MoreMenu>
        {code.item}
        <MoreItem
          icon={IconPlayerStop}
          needs={NEEDS}
          whyNot={isActive ? undefined : text.executions.hasEnded}
          isDestructive
          onClick={confirmDialog.open}
        >
          {text.executions.cancel}
        </MoreItem>
      </MoreMenu>
      {code.dialog}
      <ConfirmTyped
        opened={isConfirmOpen}
        onClose={confirmDialog.close}
        title={text.executions.cancelTitle}
        what={text.executions.cancelHelp(contactEmail ?? text.executions.erased)}
        word={text.executions.cancelWord}
        action={text.executions.cancel}
        onConfirm={confirm}
        write={cancel}
      />
    </>
  );
}
