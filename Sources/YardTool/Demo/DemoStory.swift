import Switchyard

extension TrafficStory {
    /// The demo for its report: what happened while callers asked.
    ///
    /// It begins with the first call; what the demo shows before has no callers to look after.
    init(ofDemo notes: TrafficNotes.Content) {
        let origin = notes.calls.map(\.start).min() ?? notes.events.first?.at ?? .zero
        var notes = notes
        notes.events.removeAll { $0.at < origin }
        self.init(
            title: "yard demo",
            facts: [
                Report.Fact(name: "service", value: "forum, release"),
                Report.Fact(name: "policy", value: SwitchPolicy.single.name),
                Report.Fact(name: "closed loop", value: "\(DemoPace.show.callers) callers"),
            ],
            servers: Forum.names,
            origin: origin,
            notes: notes
        )
    }
}
