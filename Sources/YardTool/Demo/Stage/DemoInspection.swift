import Switchyard
import SwitchyardInspector

/// The page that shows the demo's calls in a browser, for as long as somebody looks.
struct DemoInspection: Sendable {
    private let inspector: TrafficInspector
    private let screen: DemoScreen

    /// Attaches an inspector to the demo's client.
    init(of client: NetworkClient, on screen: DemoScreen) throws(InspectorError) {
        var options = TrafficInspector.Options()
        options.allowsControl = true
        options.printsAddress = false
        inspector = try TrafficInspector(client, options: options)
        self.screen = screen
    }

    /// Waits until the page is open, or the demo is interrupted.
    func open() async {
        screen.say("The story begins when this page is open: \(inspector.address)")
        _ = await inspector.waitForPage()
    }

    /// Stays until the demo is interrupted.
    func stay() async {
        guard !Task.isCancelled else { return }
        screen.print(["", "The page stays until you press Ctrl-C: \(inspector.address)"])
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    }

    /// Takes the page away.
    func close() {
        inspector.stop()
    }
}
