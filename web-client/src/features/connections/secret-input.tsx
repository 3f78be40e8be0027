import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import type { Secrets } from '../../engine/types.ts';

const LABELS = { password: 'Password', token: 'Token', authenticationData: 'Authentication data' } as const;

interface SecretInputProps extends Omit<PasswordInputProps, 'value' | 'onChange'> {
  readonly name: keyof typeof LABELS;
  readonly secrets: Secrets;
  readonly onChange: (secrets: Secrets) => void;
}

/** A field for one of the secrets of a connection. */
export function SecretInput({ name, secrets, onChange, ...props }: SecretInputProps) {
  return (
    <PasswordInput
      label={LABELS[name]}
      autoComplete={name === 'password' ? 'current-password' : 'off'}
      value={secrets[name] ?? ''}
      onChange={(event) => onChange({ ...secrets, [name]: event.currentTarget.value })}
      {...props}
    />
  );
}
