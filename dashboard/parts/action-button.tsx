import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import type { MouseEvent, ReactNode } from 'react';
import { type Permission, useSession } from '../app/session.ts';
import { text } from '../text/text.ts';

/**
 * A button that is disabled, with the reason, if the role does not permit the action or the caller gives another
 * reason.
 */
export function ActionButton({
  needs,
  whyNot,
  children,
  onClick,
  type = 'button',
  ...button
}: ButtonProps & {
  needs?: Permission | undefined;
  /** Why the action is not possible now, although the role permits it. */
  whyNot?: string | undefined;
  children: ReactNode;
  onClick?: () => void;
  type?: 'button' | 'submit';
}) {
  const reason = useMissingPermissionText(needs) ?? whyNot;
  const isDisabled = reason !== undefined || button.disabled === true;
  // A disabled button gets no focus and no pointer events, so the user would never see the reason. The button
  // therefore stays focusable and does nothing.
  return (
    <Tooltip label={reason} disabled={!reason} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <Button
        {...button}
        type={reason ? 'button' : type}
        disabled={reason ? false : isDisabled}
        data-disabled={isDisabled || undefined}
        aria-disabled={isDisabled || undefined}
        onClick={isDisabled ? (event) => event.preventDefault() : ignoreDoubleClick(onClick)}
      >
        {children}
      </Button>
    </Tooltip>
  );
}

/**
 * Returns a click handler that ignores the second click of a double click, so that this click does not submit the form
 * either.
 */
export function ignoreDoubleClick(act?: () => void) {
  return (event: MouseEvent) => {
    if (event.detail > 1) event.preventDefault();
    else act?.();
  };
}

/** Returns a sentence that says which permission the user's role lacks; undefined if the role has it. */
export function useMissingPermissionText(needs: Permission | undefined): string | undefined {
  const { can, role } = useSession();
  return needs === undefined || can(needs) ? undefined : text.parts.notAllowed(needs, text.roles[role]);
}
