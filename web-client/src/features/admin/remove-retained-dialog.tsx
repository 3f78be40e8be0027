import { Button, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { t } from '../../i18n/index.ts';
import { formatCount } from '../../ui/format.ts';
import { type AdminApi, ApiError } from './admin-api.ts';
import { Refusal } from './refusal.tsx';
import { type Removal, removeTopics, topicsOf } from './remove-retained.ts';

/** Selected topics, or a filter that they match; '' for all. */
export type Chosen =
  | { readonly topics: readonly string[] }
  | { readonly filter: string; readonly count: number };

interface RemoveRetainedDialogProps {
  readonly api: AdminApi;
  readonly chosen: Chosen;
  readonly close: () => void;
}

/** Asks for confirmation, removes many retained messages, and shows the progress. It can be stopped. */
export function RemoveRetainedDialog({ api, chosen, close }: RemoveRetainedDialogProps) {
  const abort = useRef<AbortController>(undefined);
  const [removal, setRemoval] = useState<Removal>();
  const [total, setTotal] = useState('topics' in chosen ? chosen.topics.length : chosen.count);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  useEffect(() => () => abort.current?.abort(), []);
  const remove = async (): Promise<void> => {
    const controller = new AbortController();
    abort.current = controller;
    setBusy(true);
    try {
      const topics =
        'topics' in chosen ? chosen.topics : await topicsOf(api, chosen.filter, controller.signal);
      setTotal(topics.length);
      setRemoval(await removeTopics(api, topics, setRemoval, controller.signal));
    } catch (thrown) {
      setError(thrown instanceof ApiError ? thrown : new ApiError('refused', String(thrown)));
    } finally {
      setBusy(false);
    }
  };
  const isDone = removal !== undefined && !isBusy;
  const shown = { count: total, shown: formatCount(total) };
  return (
    <Modal
      opened
      onClose={close}
      title={t('admin.bulk.title', shown)}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack>
        {error !== undefined && <Refusal error={error} />}
        <Text size="sm">
          {'topics' in chosen || chosen.filter === ''
            ? t('admin.bulk.text')
            : t('admin.bulk.textFilter', { filter: chosen.filter })}
        </Text>
        {removal !== undefined && (
          <>
            <Progress
              value={total === 0 ? 100 : (100 * removal.removed) / total}
              aria-label={t('admin.bulk.progress')}
            />
            <Text size="sm" role="status">
              {t('admin.bulk.removed', { removed: formatCount(removal.removed), total: formatCount(total) })}
              {removal.failed > 0 &&
                ` ${t('admin.bulk.failed', { count: removal.failed, problem: removal.problem ?? '' })}`}
            </Text>
          </>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close} data-autofocus>
            {t(isDone ? 'app.close' : isBusy ? 'admin.bulk.stop' : 'app.cancel')}
          </Button>
          {!isDone && (
            <Button color="red.9" loading={isBusy} onClick={() => void remove()}>
              {t('admin.bulk.remove', shown)}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
