import { Alert, Modal, Stack, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { t } from '../../../i18n/index.ts';
import { IconButton } from '../../../ui/icon-button.tsx';
import { AddDecoder } from './add-decoder.tsx';
import classes from './decoders-dialog.module.css';
import { useDecoders } from './registry.ts';
import { removeRule } from './rule-archive.ts';
import type { DecoderRule } from './rules.ts';

interface DecodersDialogProps {
  /** The topic of the shown payload: a new decoder is probably for it. */
  readonly topic: string;
  readonly close: () => void;
}

/** The decoders of the user, and a form for another one. */
export function DecodersDialog({ topic, close }: DecodersDialogProps) {
  const rules = useDecoders((state) => state.rules);
  return (
    <Modal
      opened
      size="lg"
      onClose={close}
      title={t('decode.decoders.title')}
      closeButtonProps={{ 'aria-label': t('app.close') }}
    >
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          {t('decode.decoders.explain')} {t('decode.decoders.builtIn')}
        </Text>
        {rules.length === 0 ? (
          <Text size="sm">{t('decode.decoders.none')}</Text>
        ) : (
          <ul className={classes.rules}>
            {rules.map((rule) => (
              <Rule key={rule.id} rule={rule} />
            ))}
          </ul>
        )}
        <AddDecoder topic={topic} isFirst={rules.length === 0} />
      </Stack>
    </Modal>
  );
}

function Rule({ rule }: { readonly rule: DecoderRule }) {
  const loaded = useDecoders((state) => state.loaded.get(rule.id));
  const { filter, kind, messageType, schemas } = rule;
  const details = [t(`decode.formats.${kind}`), messageType, schemas.map(({ name }) => name).join(', ')];
  return (
    <li>
      <div className={classes.rule}>
        <code>{filter}</code>
        <Text size="xs" c="dimmed">
          {details.filter((detail) => detail !== '').join(' · ')}
        </Text>
        <IconButton label={t('decode.decoders.remove', { filter })} onClick={() => void removeRule(rule.id)}>
          <IconTrash size={16} stroke={1.5} />
        </IconButton>
      </div>
      {loaded?.state === 'failed' && (
        <Alert color="red" variant="light" p="xs">
          {t('decode.decoders.failed', { filter, problem: loaded.problem })}
        </Alert>
      )}
    </li>
  );
}
