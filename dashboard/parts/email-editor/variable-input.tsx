import { TextInput, type TextInputProps } from '@mantine/core';
import { text } from '../../text/text.ts';
import { useIsPhone } from '../use-is-phone.ts';
import { splitAtVariables } from './text-pieces.ts';
import classes from './variable-input.module.css';

/**
 * A field for text with Liquid. While the user does not edit the text, its simple variables are shown as chips, and on
 * a phone a long text wraps. The input keeps the text as it is, also for screen readers.
 */
export function VariableInput({ value, ...props }: TextInputProps & { value: string }) {
  const isPhone = useIsPhone();
  const pieces = splitAtVariables(value);
  const isCovered = pieces.length > 0 && (isPhone || pieces.some(({ variable }) => variable));
  return (
    <TextInput
      {...props}
      value={value}
      inputContainer={(input) => (
        <div className={classes.field}>
          {input}
          {isCovered && (
            <div className={classes.shown} aria-hidden>
              {pieces.map(({ source, variable }, n) =>
                variable ? (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the index identifies a piece
                  <span key={n} className={classes.chip}>
                    {text.emailEditor.variable(variable.name, variable.fallback)}
                  </span>
                ) : (
                  source
                ),
              )}
            </div>
          )}
        </div>
      )}
    />
  );
}
