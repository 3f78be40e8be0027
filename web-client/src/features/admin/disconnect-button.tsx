import { pathWith } from '@apus/api/path';
import type { AdminApi } from './admin-api.ts';
import { ConfirmButton } from './confirm-button.tsx';

interface DisconnectButtonProps {
  readonly api: AdminApi;
  readonly clientId: string;
  readonly isOwn: boolean;
  readonly done: () => void;
}

export function DisconnectButton({ api, clientId, isOwn, done }: DisconnectButtonProps) {
  return (
    <ConfirmButton
      label={`Disconnect ${clientId}`}
      short="Disconnect"
      question={
        isOwn
          ? 'That is the connection of this page. It is told “Administrative action” (0x98), and may connect again.'
          : 'The client is told “Administrative action” (0x98) and its will is published. Its session stays as long as it asked for, and it may connect again at once.'
      }
      act={() => api.remove(pathWith('/clients/:clientid', { clientid: clientId }))}
      done={done}
    />
  );
}
