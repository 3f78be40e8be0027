export function MessagesView() {
  return null;
}
