import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from './admin-api.ts';

/** The reason why the broker did not answer. */
export function Refusal({ error: { kind, message } }: { readonly error: ApiError }) {
  const { t } = useTranslation();
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      mb="md"
      icon={<IconAlertTriangle size={18} stroke={1.75} />}
      title={t(`admin.errors.${kind}`)}
    >
      {message}
    </Alert>
  );
}
