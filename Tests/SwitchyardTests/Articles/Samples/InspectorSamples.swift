import Switchyard
import SwitchyardInspector

// The sample of the article on the inspector, word for word.

enum InspectorSamples {
    static func watch(_ client: NetworkClient) throws {
        // sample
        #if DEBUG
            let inspector = try TrafficInspector(client)
        #endif
        // end
        #if DEBUG
            withExtendedLifetime(inspector) {}
        #endif
    }
}
