import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ApiError } from './admin-api.ts';
import { adminWords } from './strings.ts';

/** The reason why the broker did not answer. */
export function Refusal({ error: { kind, message, status } }: { readonly error: ApiError }) {
  // The broker does not have what is shown here, and says where it is.
  if (status === 501)
    return (
      <Text size="sm" mb="md" role="status">
        {message}
      </Text>
    );
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      mb="md"
      icon={<IconAlertTriangle size={18} stroke={1.75} />}
      title={adminWords.errors[kind]}
    >
      {message}
    </Alert>
  );
}
