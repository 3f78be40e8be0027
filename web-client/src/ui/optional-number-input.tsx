import { NumberInput, type NumberInputProps } from '@mantine/core';

interface OptionalNumberInputProps extends Omit<NumberInputProps, 'value' | 'onChange'> {
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}

/** A whole number that may be left out: empty is undefined. */
export function OptionalNumberInput({ value, onChange, ...props }: OptionalNumberInputProps) {
  return (
    <NumberInput
      allowDecimal={false}
      allowNegative={false}
      clampBehavior="blur"
      hideControls
      value={value ?? ''}
      onChange={(entered) => onChange(typeof entered === 'number' ? entered : undefined)}
      {...props}
    />
  );
}
