// Generated from shop.yaml: Shop, version 1.4, OpenAPI 3.1.0.
// Command: yard generate shop.yaml --name Shop
// Changes to this file are lost when it is generated again.

import Switchyard

/// The operations of `reports`.
final class ReportsAPI: APIManager {
    let client: NetworkClient
    let module = Shop.module

    init(client: NetworkClient) {
        self.client = client.scoped()
    }

    /// Read the report of a day.
    func get(day: CalendarDay) async throws(APIError) -> String {
        let call = APIConfiguration(.get, "reports", query: ["day": day])
        return try await response(for: call, with: .string).value
    }
}
