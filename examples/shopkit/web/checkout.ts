/** The page where a customer pays. */
export interface Order {
  cents: number;
}

export function format(order: Order): string {
  return (order.cents / 100).toFixed(2);
}

export function pay(order: Order): string {
  return `Pay ${format(order)}`;
}
