import { Input, SegmentedControl } from '@mantine/core';
import { useId } from '@mantine/hooks';
import type { Qos } from '../engine/types.ts';

interface QosInputProps {
  readonly label: string;
  readonly value: Qos;
  readonly onChange: (qos: Qos) => void;
  readonly disabled?: boolean;
}

const LEVELS = [0, 1, 2] as const;

export function QosInput({ label, value, onChange, disabled = false }: QosInputProps) {
  const id = useId();
  return (
    <Input.Wrapper label={label} labelElement="div" labelProps={{ id, display: 'block' }} w="fit-content">
      <SegmentedControl
        aria-labelledby={id}
        disabled={disabled}
        data={[...LEVELS]}
        value={value}
        onChange={onChange}
      />
    </Input.Wrapper>
  );
}
